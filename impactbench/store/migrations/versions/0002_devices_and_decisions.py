"""Devices that links sign in, decisions about names kept by revision, reported review sets"""

import sqlalchemy as sa
from alembic import op

revision = '0002'
down_revision = '0001'
branch_labels = None
depends_on = None

_PLACE = ['conversation_id', 'message', 'start', 'end']


def upgrade() -> None:
    with op.batch_alter_table('rater', schema=None) as batch_op:
        batch_op.add_column(sa.Column('token_used_at', sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(
            sa.Column('token_reusable', sa.Boolean(), server_default=sa.false(), nullable=False)
        )
    op.create_table('device',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('rater_id', sa.Integer(), nullable=False),
    sa.Column('key_hash', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('last_seen_on', sa.Date(), nullable=False),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['rater_id'], ['rater.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('key_hash')
    )
    with op.batch_alter_table('device', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_device_rater_id'), ['rater_id'], unique=False)
    with op.batch_alter_table('review_set', schema=None) as batch_op:
        batch_op.add_column(sa.Column('reported_at', sa.DateTime(timezone=True), nullable=True))
    _keep_every_decision()


def _keep_every_decision() -> None:
    """A place may be decided about more than once. The old constraint had no name, so each database calls it differently."""
    revision_column = sa.Column('revision', sa.Integer(), server_default='1', nullable=False)
    if op.get_bind().dialect.name == 'postgresql':
        op.add_column('mask', revision_column)
        op.drop_constraint('mask_conversation_id_message_start_end_key', 'mask', type_='unique')
        op.create_unique_constraint('decision_is_kept', 'mask', [*_PLACE, 'revision'])
        return
    with op.batch_alter_table(
        'mask',
        naming_convention={'uq': 'uq_%(table_name)s_%(column_0_name)s'},
        table_args=(sa.CheckConstraint("decision IN ('hide', 'show')", name='decision_is_known'),),
    ) as batch_op:
        batch_op.add_column(revision_column)
        batch_op.drop_constraint('uq_mask_conversation_id', type_='unique')
        batch_op.create_unique_constraint('decision_is_kept', [*_PLACE, 'revision'])

"""What was decided about contested metrics and made known; analysis plans as they were fixed"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = '0004'
down_revision = '0003'
branch_labels = None
depends_on = None


_JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table('disposition',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('study_id', sa.Integer(), nullable=False),
    sa.Column('metric_version_id', sa.Integer(), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('decision', sa.String(6), nullable=False),
    sa.Column('because', sa.Text(), nullable=False),
    sa.Column('dissent', _JSON, nullable=False),
    sa.Column('becomes', _JSON, nullable=False),
    sa.Column('status', sa.String(), nullable=False),
    sa.Column('evidence', _JSON, nullable=False),
    sa.Column('decided_by', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint(
        "decision IN ('revise', 'adopt', 'keep', 'split', 'merge', 'retire')", name='decision_is_known'
    ),
    sa.ForeignKeyConstraint(['decided_by'], ['rater.id'], ),
    sa.ForeignKeyConstraint(['metric_version_id'], ['metric_version.id'], ),
    sa.ForeignKeyConstraint(['study_id'], ['study.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('study_id', 'metric_version_id', 'revision')
    )
    with op.batch_alter_table('disposition', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_disposition_metric_version_id'), ['metric_version_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_disposition_study_id'), ['study_id'], unique=False)

    op.create_table('change_note',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('disposition_id', sa.Integer(), nullable=False),
    sa.Column('note', sa.Text(), nullable=False),
    sa.Column('figures', _JSON, nullable=False),
    sa.Column('published_by', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['disposition_id'], ['disposition.id'], ),
    sa.ForeignKeyConstraint(['published_by'], ['rater.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('disposition_id')
    )

    op.create_table('registration',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('study_id', sa.Integer(), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('plan', _JSON, nullable=False),
    sa.Column('plan_hash', sa.String(), nullable=False),
    sa.Column('labels_then', sa.Integer(), nullable=False),
    sa.Column('because', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['study_id'], ['study.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('study_id', 'revision')
    )
    with op.batch_alter_table('registration', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_registration_study_id'), ['study_id'], unique=False)

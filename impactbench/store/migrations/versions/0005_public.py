"""What the public may see: released studies, headings of the nutrition label, marked cases"""

import sqlalchemy as sa
from alembic import op

revision = '0005'
down_revision = '0004'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('study', schema=None) as batch_op:
        batch_op.add_column(sa.Column('released_at', sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(
            sa.Column('transcripts_public', sa.Boolean(), server_default=sa.false(), nullable=False)
        )

    op.create_table('category',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('slug', sa.String(), nullable=False),
    sa.Column('name', sa.String(), nullable=False),
    sa.Column('description', sa.Text(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('slug')
    )
    op.create_table('category_metric',
    sa.Column('category_id', sa.Integer(), nullable=False),
    sa.Column('metric_id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['category_id'], ['category.id'], ),
    sa.ForeignKeyConstraint(['metric_id'], ['metric.id'], ),
    sa.PrimaryKeyConstraint('category_id', 'metric_id')
    )
    with op.batch_alter_table('category_metric', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_category_metric_category_id'), ['category_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_category_metric_metric_id'), ['metric_id'], unique=False)

    op.create_table('case_mark',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('study_id', sa.Integer(), nullable=False),
    sa.Column('conversation_id', sa.Integer(), nullable=False),
    sa.Column('metric_version_id', sa.Integer(), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('first_turn', sa.Integer(), nullable=True),
    sa.Column('corrected_turn', sa.Integer(), nullable=True),
    sa.Column('note', sa.Text(), nullable=False),
    sa.Column('marked_by', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint('first_turn IS NOT NULL OR corrected_turn IS NULL', name='nothing_is_corrected'),
    sa.CheckConstraint('first_turn > 0 AND corrected_turn >= first_turn', name='turns_are_in_order'),
    sa.ForeignKeyConstraint(['conversation_id'], ['conversation.id'], ),
    sa.ForeignKeyConstraint(['marked_by'], ['rater.id'], ),
    sa.ForeignKeyConstraint(['metric_version_id'], ['metric_version.id'], ),
    sa.ForeignKeyConstraint(['study_id'], ['study.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('study_id', 'conversation_id', 'metric_version_id', 'revision')
    )
    with op.batch_alter_table('case_mark', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_case_mark_study_id'), ['study_id'], unique=False)

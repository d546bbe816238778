"""Runs that go on where they stopped: attempts, calls, submissions"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None


def upgrade() -> None:
    _know_what_shaped_a_result()
    _keep_launches_calls_and_attempts()
    _keep_submissions()


def _know_what_shaped_a_result() -> None:
    for table in ('scenario', 'conversation', 'judgment'):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.add_column(sa.Column('unit_key', sa.String(), server_default='', nullable=False))
            batch_op.create_index(batch_op.f(f'ix_{table}_unit_key'), ['unit_key'], unique=False)
    with op.batch_alter_table('conversation', schema=None) as batch_op:
        batch_op.add_column(sa.Column('termination', sa.String(), server_default='', nullable=False))
        batch_op.add_column(
            sa.Column(
                'remarks', sa.JSON().with_variant(JSONB(), 'postgresql'), server_default='[]', nullable=False
            )
        )


def _keep_launches_calls_and_attempts() -> None:
    op.create_table('launch',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('run_id', sa.Integer(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('manifest', sa.JSON().with_variant(JSONB(), 'postgresql'), nullable=False),
    sa.Column('manifest_hash', sa.String(), nullable=False),
    sa.Column('planned', sa.JSON().with_variant(JSONB(), 'postgresql'), nullable=False),
    sa.Column('started_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('ended_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('ended_because', sa.String(), nullable=False),
    sa.ForeignKeyConstraint(['run_id'], ['run.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('run_id', 'number')
    )
    op.create_index(op.f('ix_launch_run_id'), 'launch', ['run_id'], unique=False)
    op.create_table('call',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('run_id', sa.Integer(), nullable=False),
    sa.Column('unit_key', sa.String(), nullable=False),
    sa.Column('restart', sa.Integer(), nullable=False),
    sa.Column('ordinal', sa.Integer(), nullable=False),
    sa.Column('stage', sa.String(), nullable=False),
    sa.Column('purpose', sa.String(), nullable=False),
    sa.Column('model', sa.String(), nullable=False),
    sa.Column('request_hash', sa.String(), nullable=False),
    sa.Column('reply', sa.Text(), nullable=False),
    sa.Column('finish_reason', sa.String(), nullable=False),
    sa.Column('tokens_in', sa.Integer(), nullable=False),
    sa.Column('tokens_out', sa.Integer(), nullable=False),
    sa.Column('cost_usd', sa.Float(), nullable=True),
    sa.Column('seconds', sa.Float(), nullable=False),
    sa.Column('retries', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['run_id'], ['run.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('run_id', 'unit_key', 'restart', 'ordinal')
    )
    op.create_table('attempt',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('run_id', sa.Integer(), nullable=False),
    sa.Column('unit_key', sa.String(), nullable=False),
    sa.Column('stage', sa.String(), nullable=False),
    sa.Column('subject', sa.String(), nullable=False),
    sa.Column('model', sa.String(), nullable=False),
    sa.Column('kind', sa.String(), nullable=False),
    sa.Column('because', sa.Text(), nullable=False),
    sa.Column('retries', sa.Integer(), nullable=False),
    sa.Column('seconds', sa.Float(), nullable=False),
    sa.Column('restart', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['run_id'], ['run.id'], ),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index(op.f('ix_attempt_run_id'), 'attempt', ['run_id'], unique=False)
    op.create_index(op.f('ix_attempt_unit_key'), 'attempt', ['unit_key'], unique=False)


def _keep_submissions() -> None:
    words = "('accept', 'revise', 'merge', 'reject')"
    json = sa.JSON().with_variant(JSONB(), 'postgresql')
    op.create_table('submission',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('code', sa.String(), nullable=False),
    sa.Column('submitter_id', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['submitter_id'], ['rater.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('code')
    )
    op.create_index(op.f('ix_submission_submitter_id'), 'submission', ['submitter_id'], unique=False)
    op.create_table('submission_draft',
    sa.Column('submission_id', sa.Integer(), nullable=False),
    sa.Column('content', json, nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['submission_id'], ['submission.id'], ),
    sa.PrimaryKeyConstraint('submission_id')
    )
    op.create_table('submission_revision',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('submission_id', sa.Integer(), nullable=False),
    sa.Column('revision', sa.Integer(), nullable=False),
    sa.Column('content', json, nullable=False),
    sa.Column('content_hash', sa.String(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['submission_id'], ['submission.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('submission_id', 'revision'),
    sa.UniqueConstraint('submission_id', 'content_hash')
    )
    op.create_table('submission_trial',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('revision_id', sa.Integer(), nullable=False),
    sa.Column('model', sa.String(), nullable=False),
    sa.Column('prompt_hash', sa.String(), nullable=False),
    sa.Column('outcomes', json, nullable=False),
    sa.Column('tells_apart', sa.Boolean(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['revision_id'], ['submission_revision.id'], ),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index(op.f('ix_submission_trial_revision_id'), 'submission_trial', ['revision_id'], unique=False)
    op.create_table('submission_review',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('revision_id', sa.Integer(), nullable=False),
    sa.Column('reviewer_id', sa.Integer(), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('fidelity', sa.Integer(), nullable=False),
    sa.Column('clarity', sa.Integer(), nullable=False),
    sa.Column('observability', sa.Integer(), nullable=False),
    sa.Column('advice', sa.String(length=6), nullable=False),
    sa.Column('because', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint(f'advice IN {words}', name='advice_is_known'),
    sa.CheckConstraint(
        'fidelity BETWEEN 1 AND 4 AND clarity BETWEEN 1 AND 4 AND observability BETWEEN 1 AND 4',
        name='marks_are_1_to_4',
    ),
    sa.ForeignKeyConstraint(['reviewer_id'], ['rater.id'], ),
    sa.ForeignKeyConstraint(['revision_id'], ['submission_revision.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('revision_id', 'reviewer_id', 'number')
    )
    op.create_table('submission_outcome',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('revision_id', sa.Integer(), nullable=False),
    sa.Column('decided_by', sa.Integer(), nullable=False),
    sa.Column('decision', sa.String(length=6), nullable=False),
    sa.Column('because', sa.Text(), nullable=False),
    sa.Column('merged_into', sa.String(), nullable=False),
    sa.Column('metric_version_id', sa.Integer(), nullable=True),
    sa.Column('trial_id', sa.Integer(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint(f'decision IN {words}', name='decision_is_known'),
    sa.ForeignKeyConstraint(['decided_by'], ['rater.id'], ),
    sa.ForeignKeyConstraint(['metric_version_id'], ['metric_version.id'], ),
    sa.ForeignKeyConstraint(['revision_id'], ['submission_revision.id'], ),
    sa.ForeignKeyConstraint(['trial_id'], ['submission_trial.id'], ),
    sa.PrimaryKeyConstraint('id'),
    sa.UniqueConstraint('revision_id')
    )

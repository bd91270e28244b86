"""The store's tables and views, as append-only migrations.

Small rows are the aim: what many checks share (a criterion, a verdict, a finding, a case) stands once and is
referred to by an integer, so that one more threshold profile costs a few dozen bytes a check. The views put
the pieces together under the names people query.

Keys of shared rows are hashes of their content (63 bits); a trigger refuses two contents under one key where rows of
many cases share it.
"""

from jeval.store.views import NEWEST_FIRST, VIEWS

__all__ = ["APPLICATION_ID", "MIGRATIONS", "VERSION"]

# "jevl" in ASCII: tells our stores from other SQLite files.
APPLICATION_ID = 0x6A65766C

_TABLES = """
CREATE TABLE runs (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  status TEXT NOT NULL DEFAULT 'running',
  exit_code INTEGER,
  dataset TEXT NOT NULL,
  dataset_path TEXT,
  dataset_sha256 TEXT,
  cases INTEGER,
  rubrics TEXT,
  metrics TEXT,
  thresholds TEXT,
  threshold_pass REAL,
  threshold_fail REAL,
  judge TEXT NOT NULL,
  gateway TEXT NOT NULL,
  model_asked TEXT NOT NULL,
  model_served TEXT,
  simulated INTEGER NOT NULL DEFAULT 0,
  config_yaml TEXT NOT NULL,
  config_sha256 TEXT NOT NULL,
  overrides TEXT NOT NULL DEFAULT '[]',
  tags TEXT NOT NULL DEFAULT '{}',
  jeval_version TEXT NOT NULL,
  python_version TEXT NOT NULL,
  git_commit TEXT,
  requests INTEGER NOT NULL DEFAULT 0,
  judgments_asked INTEGER NOT NULL DEFAULT 0,
  judgments_reused INTEGER NOT NULL DEFAULT 0,
  oldest_reused_at TEXT,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cost_usd REAL,
  wall_s REAL,
  left_unasked INTEGER NOT NULL DEFAULT 0,
  stopped_because TEXT,
  gate TEXT,
  sweep_id TEXT,
  sweep_position INTEGER
) STRICT;
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_by_sweep ON runs (sweep_id, sweep_position);

CREATE TABLE case_ids (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE case_rows (
  pk INTEGER PRIMARY KEY,
  case_key INTEGER NOT NULL REFERENCES case_ids (key),
  sha256 BLOB NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (case_key, sha256)
) STRICT;

CREATE TABLE rubrics (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  version TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  kind TEXT NOT NULL,
  severity TEXT NOT NULL,
  required INTEGER NOT NULL,
  definition TEXT NOT NULL,
  UNIQUE (id, version, sha256)
) STRICT;

CREATE TABLE metrics (
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  version TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  definition TEXT NOT NULL,
  UNIQUE (id, version, sha256)
) STRICT;

CREATE TABLE run_rubrics (
  run INTEGER NOT NULL REFERENCES runs (pk),
  position INTEGER NOT NULL,
  rubric INTEGER NOT NULL REFERENCES rubrics (pk),
  PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_cases (
  run INTEGER NOT NULL REFERENCES runs (pk),
  position INTEGER NOT NULL,
  case_key INTEGER NOT NULL REFERENCES case_ids (key),
  content INTEGER NOT NULL REFERENCES case_rows (pk),
  sources TEXT,
  PRIMARY KEY (run, case_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE judges (
  pk INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  gateway TEXT NOT NULL,
  model_asked TEXT NOT NULL,
  UNIQUE (gateway, model_asked)
) STRICT;

CREATE TABLE questions (id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, body TEXT NOT NULL) STRICT;

CREATE TABLE request_rows (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (pk),
  case_key INTEGER NOT NULL REFERENCES case_ids (key),
  judge INTEGER NOT NULL REFERENCES judges (pk),
  state_key INTEGER NOT NULL,
  state BLOB NOT NULL,
  repeat INTEGER NOT NULL,
  model_served TEXT,
  asked_at TEXT NOT NULL,
  latency_ms REAL,
  attempts INTEGER NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cost_usd REAL,
  request_id TEXT,
  error_kind TEXT,
  error_message TEXT
) STRICT;
CREATE INDEX request_rows_by_state ON request_rows (state_key);
CREATE INDEX request_rows_by_run ON request_rows (run, case_key);

CREATE TABLE judgment_rows (
  request INTEGER NOT NULL REFERENCES request_rows (id),
  question INTEGER NOT NULL REFERENCES questions (id),
  answer TEXT NOT NULL,
  PRIMARY KEY (request, question)
) STRICT, WITHOUT ROWID;

CREATE TABLE criteria (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;

CREATE TABLE findings (
  case_key INTEGER NOT NULL REFERENCES case_ids (key),
  id INTEGER NOT NULL,
  criterion INTEGER REFERENCES criteria (id),
  probabilities TEXT,
  confidence REAL,
  evidence TEXT NOT NULL,
  PRIMARY KEY (case_key, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdicts (
  id INTEGER PRIMARY KEY,
  status INTEGER NOT NULL,
  outcome TEXT,
  rule TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;

CREATE TABLE check_rows (
  run INTEGER NOT NULL REFERENCES runs (pk),
  case_key INTEGER NOT NULL REFERENCES case_ids (key),
  rubric INTEGER NOT NULL REFERENCES rubrics (pk),
  status INTEGER NOT NULL,
  critical INTEGER NOT NULL,
  finding INTEGER NOT NULL,  -- with case_key, a row of findings; checked by who writes it, for speed
  verdict INTEGER NOT NULL REFERENCES verdicts (id),
  PRIMARY KEY (run, case_key, rubric)
) STRICT, WITHOUT ROWID;
-- All columns, for SQLite prefers the primary key, and reads the whole run, wherever one is missing.
CREATE INDEX critical_check_rows ON check_rows (run, critical, status, finding, verdict) WHERE critical = 1;

CREATE TABLE sweep_jobs (
  sweep_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  overrides TEXT NOT NULL,
  run INTEGER REFERENCES runs (pk),
  exit_code INTEGER NOT NULL,
  error TEXT,
  PRIMARY KEY (sweep_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE tallies (
  run INTEGER NOT NULL REFERENCES runs (pk),
  rubric INTEGER NOT NULL REFERENCES rubrics (pk),
  status INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (run, rubric, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE repeat_flips (
  run INTEGER NOT NULL REFERENCES runs (pk),
  case_key INTEGER NOT NULL REFERENCES case_ids (key),
  rubric INTEGER NOT NULL REFERENCES rubrics (pk),
  statuses TEXT NOT NULL,
  PRIMARY KEY (run, case_key, rubric)
) STRICT, WITHOUT ROWID;

CREATE TABLE score_results (
  id INTEGER PRIMARY KEY,
  status TEXT NOT NULL,
  score REAL,
  passed INTEGER,
  strict INTEGER NOT NULL,
  threshold REAL NOT NULL,
  confidence REAL,
  reason TEXT NOT NULL,
  breakdown TEXT NOT NULL
) STRICT;

CREATE TABLE score_rows (
  run INTEGER NOT NULL REFERENCES runs (pk),
  case_key INTEGER NOT NULL REFERENCES case_ids (key),
  metric INTEGER NOT NULL REFERENCES metrics (pk),
  result INTEGER NOT NULL REFERENCES score_results (id),
  PRIMARY KEY (run, case_key, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE labels (
  case_id TEXT NOT NULL,
  rubric_id TEXT NOT NULL,
  expected TEXT NOT NULL,
  source TEXT NOT NULL,
  reviewer TEXT,
  note TEXT,
  labelled_at TEXT NOT NULL
) STRICT;
CREATE INDEX labels_by_people ON labels (case_id, rubric_id) WHERE source = 'human';
CREATE UNIQUE INDEX labels_by_author ON labels (case_id, rubric_id, source, coalesce(reviewer, ''));
"""

# Findings need none: their keys are compared within one case only, where 63 bits do not meet by chance.
_GUARDS = "".join(
    f"""
CREATE TRIGGER {table}_one_content BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id AND ({differs}))
BEGIN SELECT RAISE(ABORT, 'two contents under one key in {table}'); END;
"""
    for table, differs in (
        ("questions", "sha256 <> NEW.sha256"),
        ("criteria", "text <> NEW.text"),
        (
            "verdicts",
            "status <> NEW.status OR outcome IS NOT NEW.outcome OR rule <> NEW.rule OR reason <> NEW.reason",
        ),
        ("score_results", "breakdown <> NEW.breakdown OR reason <> NEW.reason OR score IS NOT NEW.score"),
    )
)

_EXPLANATIONS = """
CREATE TABLE explanation_rows (
  run INTEGER NOT NULL REFERENCES runs (pk),
  case_key INTEGER NOT NULL REFERENCES case_ids (key),
  metric INTEGER NOT NULL REFERENCES metrics (pk),
  text TEXT NOT NULL,
  model TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (run, case_key, metric)
) STRICT, WITHOUT ROWID;

CREATE VIEW explanations AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, metrics.id AS metric_id, e.text AS text, e.model AS model,
  e.at AS explained_at
FROM explanation_rows e
JOIN runs ON runs.pk = e.run
JOIN case_ids ON case_ids.key = e.case_key
JOIN metrics ON metrics.pk = e.metric;
"""

# Appended to, never edited once released: (name, SQL).
MIGRATIONS: tuple[tuple[str, str], ...] = (
    ("first tables and views", _TABLES + _GUARDS + VIEWS),
    ("explanations of scores", _EXPLANATIONS),
    ("views that begin with the run", NEWEST_FIRST),
)

VERSION = len(MIGRATIONS)

"""Every column in words, as Datasette shows them above a table."""

__all__ = ["COLUMNS"]

_KEY = "The number other tables refer to."
_RUN = "The run; a link to its page."
_CASE = "The case; a link to its page in this run."
_RUBRIC = {
    "rubric_id": "The rubric's stable id.",
    "rubric_version": "The rubric's version; results of two versions are never compared.",
}
_SEVERITY = {
    "kind": "What the rubric asks and how answers become a status.",
    "severity": "critical, major or minor. Critical failures are counted apart.",
    "required": "1 where gates count the rubric, 0 where it is only reported.",
}
_COUNTS = {
    "pass": "Checks that passed.",
    "fail": "Checks that failed.",
    "review": "Checks that are undecided and need a person.",
    "skipped": "Checks that did not apply.",
    "error": "Checks without a usable answer; never counted as failures.",
}
_PROBABILITIES = (
    "The judge's probabilities: {option: p}, or {part: {option: p}} for several"
    " questions; null where nothing was asked."
)
_CONFIDENCE = "The provider's own statistic. Kept, never used for a decision; it is no accuracy."
_MODEL = {
    "judge": "The judge's name in the configuration.",
    "gateway": "The service or protocol through which it was asked.",
    "model_asked": "The model that was asked for.",
    "model_served": "The model version that said it answered; null where unknown.",
}
_SHARED = {
    "sha256": "Hash of all that can change a result.",
    "definition": "The definition as JSON, without what is left at its default.",
}
_VERSIONED = {"pk": _KEY, "version": "Its version.", **_SHARED}
_TOKENS = {
    "input_tokens": "Tokens sent, as the judge counted them; null where unknown.",
    "output_tokens": "Tokens answered, as the judge counted them; null where unknown.",
    "cost_usd": "Cost in US dollars; null where unknown.",
}

COLUMNS: dict[str, dict[str, str]] = {
    "runs": {
        "pk": "The run's number inside this store.",
        "id": "The run's id, which sorts by time; a link to its page.",
        "name": "The name given with name=; null where none was.",
        "started_at": "When it began, UTC.",
        "finished_at": "When it ended, UTC; null while it runs or where it was killed.",
        "status": "running, complete or incomplete, and why.",
        "exit_code": "0 fine, 1 gate failed, 2 incomplete, 3 usage or config, 130 interrupted.",
        "dataset": "The dataset's name.",
        "dataset_path": "The file it was read from.",
        "dataset_sha256": "Hash of all in the dataset that can change a check; labels are not in it.",
        "cases": "Cases in the dataset as it was used.",
        "rubrics": "The rubric set's name.",
        "metrics": "The metric set's name.",
        "thresholds": "The threshold profile's name.",
        "threshold_pass": "The least p(acceptable) that passes, 0 to 1.",
        "threshold_fail": "The least p(unacceptable) that fails, 0 to 1.",
        **_MODEL,
        "simulated": "1 where the offline judge answered, which compares words and understands nothing.",
        "config_yaml": (
            "The whole configuration as composed; keys are named by their variable,"
            " never written."
        ),
        "config_sha256": "Hash of all in the configuration that can change a check.",
        "overrides": "What was given on the command line, as a JSON list.",
        "tags": "Tags given with tags.KEY=VALUE, as a JSON object.",
        "jeval_version": "The version of jeval that ran.",
        "python_version": "The version of Python that ran it.",
        "git_commit": "The commit of the project; null outside a repository.",
        "requests": "HTTP calls that got a reply.",
        "judgments_asked": "Answers asked for in this run.",
        "judgments_reused": "Answers taken from the store.",
        "oldest_reused_at": "When the oldest reused answer was given, UTC.",
        **_TOKENS,
        "wall_s": "Seconds from start to end.",
        "left_unasked": "Cases that were left when the run stopped.",
        "stopped_because": "Why it stopped before the end; null where it did not.",
        "gate": "What the gate decided; null where none was asked.",
        "sweep_id": "The sweep it belongs to; null where it ran alone.",
        "sweep_position": "Its place in the sweep.",
    },
    "checks": {
        "run_id": _RUN,
        "case_id": _CASE,
        **_RUBRIC,
        **_SEVERITY,
        "status": "pass, fail, review, skipped or error.",
        "outcome": "The option that stands for the status; null where nothing was asked.",
        "probabilities": _PROBABILITIES,
        "confidence": _CONFIDENCE,
        "reason": "One line with the numbers that made the status.",
        "rule": "The stable name of the rule that code applied; the kind of the error where there was one.",
        "criterion": "The instruction exactly as sent; null where nothing was asked.",
        "evidence": "Which fields and ids the judge was shown, and what was cut, as JSON.",
    },
    "cases": {
        "case_sha256": "Hash of the case's content.",
        "id": "The case's id; one id has several rows where its content changed.",
        "input": "What the user said.",
        "output": "The text under evaluation.",
        "body": "The whole case as JSON, without labels.",
        "pk": "The content's number inside this store.",
    },
    "scores": {
        "run_id": _RUN,
        "case_id": _CASE,
        "metric_id": "The metric's stable id.",
        "metric_version": "The metric's version.",
        "score": "0 to 1; null where the case was not scored.",
        "passed": "1 where the score reaches the threshold; null where there is no score.",
        "strict": "1 where every question had to pass by itself.",
        "threshold": "The least score that passes, 0 to 1.",
        "confidence": _CONFIDENCE,
        "reason": "One line on what made the score, or why there is none.",
        "status": "scored, skipped or error.",
    },
    "score_breakdown": {
        "run_id": _RUN,
        "case_id": _CASE,
        "metric_id": "The metric's stable id.",
        "position": "The question's place, from 1.",
        "type": "noul, score or choice.",
        "question": "The question as written.",
        "weight": "Its weight among the questions.",
        "probabilities": "The judge's probabilities by option.",
        "value": "Its value, 0 to 1; null where it does not apply.",
        "applicable": "1 where the question applies to the case.",
        "passed": "Whether it passed by itself; null where the metric is not strict.",
        "confidence": _CONFIDENCE,
    },
    "explanations": {
        "run_id": _RUN,
        "case_id": _CASE,
        "metric_id": "The metric's stable id.",
        "text": "Prose about a score, written after it; it cannot change one.",
        "model": "The model that wrote it.",
        "explained_at": "When, UTC.",
    },
    "judgments": {
        **_MODEL,
        "state_sha256": "Hash of what the judge was shown.",
        "question_sha256": "Hash of the question.",
        "repeat": "0, or the number of the repetition.",
        "answer": "The answer as JSON.",
        "asked_at": "When it was asked, UTC.",
        "request_id": "The provider's id of the request; null where it gave none.",
        "request": "The request's number; equal numbers came in one reply.",
        "run": "The number of the run that asked first.",
    },
    "requests": {
        "run_id": _RUN,
        "case_id": _CASE,
        "model_served": _MODEL["model_served"],
        "latency_ms": "Milliseconds from first attempt to reply.",
        "attempts": "How often it was sent.",
        **_TOKENS,
        "error_kind": "A stable word for what went wrong; null where nothing did.",
        "error_message": "What went wrong, in one line.",
        "asked_at": "When it was asked, UTC.",
        "request_id": "The provider's id of the request.",
        "repeat": "0, or the number of the repetition.",
        "request": "The request's number.",
    },
    "rubrics": {"id": "The rubric's stable id.", **_VERSIONED, **_SEVERITY},
    "metrics": {"id": "The metric's stable id.", **_VERSIONED},
    "labels": {
        "case_id": "The case.",
        "rubric_id": "The rubric.",
        "expected": "The status a careful person gives: pass, fail, review or skipped.",
        "source": "human, imported, or synthetic for made-up data.",
        "reviewer": "Who gave it; null where unknown.",
        "note": "Why.",
        "labelled_at": "When, UTC.",
    },
    "run_summary": {
        "run_id": _RUN,
        **_COUNTS,
        "pass_rate_decided": "pass ÷ (pass + fail); null where nothing was decided.",
        "decided_coverage": "(pass + fail) ÷ all that was not skipped.",
        "review_rate": "review ÷ all that was not skipped.",
        "critical_failures": "Failed checks of rubrics of critical severity.",
    },
    "rubric_summary": {"run_id": _RUN, **_RUBRIC, **_COUNTS, **_SEVERITY},
    "critical_failures": {"run_id": _RUN, "case_id": _CASE, **_RUBRIC, "reason": "Why it failed."},
    "case_ids": {"key": _KEY, "id": "The case's id."},
    "judges": {"pk": _KEY, "name": _MODEL["judge"]} | {k: _MODEL[k] for k in ("gateway", "model_asked")},
    "questions": {"id": _KEY, "sha256": "Hash of the question.", "body": "The question as sent."},
    "criteria": {"id": _KEY, "text": "The text as sent."},
    "verdicts": {
        "id": _KEY,
        "status": "0 pass, 1 fail, 2 review, 3 skipped, 4 error.",
        "outcome": "The option that stands for the status.",
        "rule": "The stable name of the rule applied.",
        "reason": "One line with the numbers.",
    },
    "repeat_flips": {
        "run": "The run's number.",
        "case_key": "The case id's number.",
        "rubric": "The rubric's number.",
        "statuses": "The status in each repetition, as a JSON list.",
    },
}  # fmt: skip

# The shared pieces beneath the views, under the names that several of them use.
_PIECES = {
    "run": "The run's number.",
    "case_key": "The case id's number.",
    "content": "The number of the case's content.",
    "rubric": "The rubric's number.",
    "metric": "The metric's number.",
    "judge": "The judge's number.",
    "finding": "The number of the finding, within the case.",
    "verdict": "The number of the verdict.",
    "criterion": "The number of the criterion's text.",
    "question": "The question's number.",
    "request": "The request's number.",
    "result": "The number of the metric's result.",
    "position": "The place in its list.",
    "status": "0 pass, 1 fail, 2 review, 3 skipped, 4 error.",
    "critical": "1 for a failed check of critical severity.",
    "n": "How many checks.",
    "sources": "The requests a case's answers rest on, as a JSON list.",
    "state": "SHA-256 of what the judge was shown.",
    "state_key": "The first bits of that hash, to find it by.",
    "pk": _KEY,
    "id": _KEY,
    "sha256": "Hash of the content.",
    "body": "The content as JSON.",
    "answer": "The answer as JSON.",
    "probabilities": _PROBABILITIES,
    "confidence": _CONFIDENCE,
    "evidence": "Which fields and ids the judge was shown, as JSON.",
    "score": "0 to 1; null where the case was not scored.",
    "passed": "1 where the score reaches the threshold.",
    "strict": "1 where every question had to pass by itself.",
    "threshold": "The least score that passes.",
    "reason": "One line on what made the score.",
    "breakdown": "What each question added, as a JSON list.",
    "sweep_id": "The sweep.",
    "overrides": "What was given to this job, as JSON.",
    "exit_code": "The job's exit code.",
    "error": "Why the job did not run; null where it did.",
    **{name: COLUMNS["requests"][name] for name in (
        "model_served", "latency_ms", "attempts", "input_tokens", "output_tokens", "cost_usd", "error_kind",
        "error_message", "asked_at", "request_id", "repeat",
    )},
}  # fmt: skip


def _pieces(names: str) -> dict[str, str]:
    return {name: _PIECES[name] for name in names.split()}


COLUMNS |= {
    "case_metadata": {
        "key": "The name in a case's metadata.",
        "value": "Its value as text.",
        "content": "The number of the case's content.",
    },
    "case_rows": _pieces("pk case_key sha256 body"),
    "findings": _pieces("case_key id criterion probabilities confidence evidence"),
    "check_rows": _pieces("run case_key rubric status critical finding verdict"),
    "judgment_rows": _pieces("request question answer"),
    "request_rows": _pieces(
        "id run case_key judge state_key state repeat model_served asked_at latency_ms attempts"
        " input_tokens output_tokens"
        " cost_usd request_id error_kind error_message"
    ),
    "run_cases": _pieces("run position case_key content sources"),
    "run_rubrics": _pieces("run position rubric"),
    "score_results": _pieces("id status score passed strict threshold confidence reason breakdown")
    | {"status": "scored, skipped or error."},
    "score_rows": _pieces("run case_key metric result"),
    "sweep_jobs": _pieces("sweep_id position overrides run exit_code error"),
    "explanation_rows": _pieces("run case_key metric")
    | {
        "text": "Prose about a score, written after it; it cannot change one.",
        "model": "The model that wrote it.",
        "at": "When, UTC.",
    },
    "tallies": _pieces("run rubric status n"),
}

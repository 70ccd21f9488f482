"""The catalogue of violation codes: one table, from which the page of codes is generated.

A code is a promise: it never changes its meaning. ``outcome`` is what it leads its layer to,
``disposition`` what it asks of its reader, ``detail`` a template over the violation's ``params``,
``next`` what to do about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from counterfoil_schemas.vocabulary import Disposition, LayerOutcome


@dataclass(frozen=True, slots=True)
class Rule:
    """What a code means."""

    code: str
    outcome: LayerOutcome
    disposition: Disposition
    title: str
    detail: str
    next: str


def _malformed(code: str, title: str, detail: str, next_: str) -> Rule:
    return Rule(code, "malformed", "malformed", title, detail, next_)


def _rejected(code: str, title: str, detail: str, next_: str) -> Rule:
    return Rule(code, "rejected", "reject", title, detail, next_)


_STRUCTURED = (
    _malformed(
        "structured.event.invalid",
        "Event does not follow the wire contract",
        "the event's data is wrong at {where}: {problem}",
        "correct the producer: the wire contract lists every field",
    ),
    _malformed(
        "structured.event.unknown_type",
        "Unknown event type",
        "events of type {event_type} are not known here",
        "send counterfoil.generation.v1, or upgrade the workers before the producers",
    ),
    _malformed(
        "structured.event.foreign_tenant",
        "Event names another tenant",
        "the data names a tenant other than the one whose inbox it was written to",
        "write to the inbox of the tenant that the data names, or drop the field",
    ),
    _malformed(
        "structured.event.conflict",
        "Identity reused for other data",
        "this source and id already belong to an event with other data",
        "give every generation an id of its own; the first event is untouched",
    ),
    _malformed(
        "structured.contract.unknown",
        "Unknown output contract",
        "no contract {ref} is stored for this tenant",
        "put the contract first, then send the event under a new id",
    ),
    _malformed(
        "structured.policy.unknown",
        "Unknown policy",
        "no policy {ref} is stored for this tenant",
        "put the policy first, then send the event under a new id",
    ),
    _malformed(
        "structured.output.undecodable",
        "Output bytes cannot be read",
        "text_base64 is not base64",
        "send the output's exact bytes as base64 (RFC 4648)",
    ),
    _rejected(
        "structured.output.media_type",
        "Output has another media type",
        "the contract asks for {expected}, the output says {found}",
        "ask the model for the contract's media type",
    ),
    _rejected(
        "structured.ending.incomplete",
        "Output was cut off",
        "the model stopped for {finish_reason}, so the text is not whole",
        "raise the token limit or ask for less, and generate again",
    ),
    _rejected(
        "structured.ending.filtered",
        "Output was filtered by the provider",
        "the provider ended the output with {finish_reason}",
        "look into what was filtered before asking again",
    ),
    _rejected(
        "structured.ending.failed",
        "Generation failed",
        "the provider ended the output with {finish_reason}",
        "generate again",
    ),
    _rejected(
        "structured.ending.unexpected",
        "Output ended in a way the contract does not allow",
        "the contract allows other endings than {finish_reason}",
        "list the ending in the contract's endings if it is legitimate",
    ),
    _rejected(
        "structured.refusal.forbidden",
        "Model declined where it may not",
        "the contract does not allow a refusal",
        "allow refusals in the contract, or route the request elsewhere",
    ),
    _rejected(
        "structured.output.too_large",
        "Output exceeds the contract's limits",
        "the output exceeds {limit} ({bound})",
        "ask for less, or raise the contract's limit in a new version",
    ),
    _rejected(
        "structured.json.invalid",
        "Output is not one JSON value",
        "the text is not one complete JSON value: {problem} at byte {offset}",
        "constrain the model's decoding to JSON; nothing is repaired here",
    ),
    _rejected(
        "structured.json.duplicate_key",
        "Output repeats a member name",
        "an object has the same member twice, near byte {offset}",
        "constrain the model's decoding; readers would disagree on the value",
    ),
    _rejected(
        "structured.schema.violated",
        "Output does not match the schema",
        "the value at {where} fails {keyword}",
        "compare the place with the contract's schema",
    ),
    _rejected(
        "structured.invariant.failed",
        "Output breaks an invariant",
        "invariant {invariant} does not hold: {message}",
        "compare the output with the contract's invariant",
    ),
    _rejected(
        "structured.invariant.not_computed",
        "Invariant could not be computed",
        "invariant {invariant} could not be computed: {problem}",
        "mend the invariant in a new contract version; what cannot be computed never passes",
    ),
    _rejected(
        "structured.view.mismatch",
        "Output does not fit the contract's view",
        "the view expects {expected} at {where}",
        "tighten the schema so that it guarantees what the view reads",
    ),
    _rejected(
        "structured.claim.duplicate",
        "Two claims share an id",
        "claim {claim} occurs more than once",
        "give each claim an id of its own",
    ),
    _rejected(
        "structured.citation.unknown_evidence",
        "Citation of unknown evidence",
        "claim {claim} cites {evidence}, which the event does not carry",
        "cite only evidence that the model was given",
    ),
)

_SEMANTIC = (
    _malformed(
        "semantic.identity.receipt_mismatch",
        "Structured receipt does not belong here",
        "the structured receipt differs from this run in {what}",
        "run the event again; the stored receipt is not one of this run",
    ),
    _malformed(
        "semantic.identity.contract_mismatch",
        "Policy is for another contract",
        "the policy judges {expected}, the event names {found}",
        "name a policy that was written for the event's contract",
    ),
    _malformed(
        "semantic.identity.manifest_mismatch",
        "Evidence is not the declared list",
        "the {declared_by} binds another manifest than the event's evidence",
        "send the evidence that was bound, or bind what is sent",
    ),
    _malformed(
        "semantic.identity.task_mismatch",
        "Policy is for another task",
        "the policy judges task {expected}, the event names {found}",
        "name the policy of this task",
    ),
    _malformed(
        "semantic.identity.tenant_mismatch",
        "Policy is for another tenant",
        "the policy is bound to another tenant",
        "name a policy of this tenant",
    ),
    _malformed(
        "semantic.identity.validator_mismatch",
        "Policy needs another rule version",
        "the policy needs rule version {expected}, this is {found}",
        "write a policy version for the present rules",
    ),
    _rejected(
        "semantic.identity.self_attested",
        "Section is vouched for by the party it checks",
        "the policy asks another party to vouch for {section}",
        "have the section attested by another party",
    ),
    _rejected(
        "semantic.access.foreign_tenant",
        "Cited evidence belongs to another tenant",
        "evidence {evidence} does not belong to the event's tenant",
        "being true makes no fact usable across tenants: cite evidence of this tenant",
    ),
    _rejected(
        "semantic.access.not_reader",
        "Principal may not read cited evidence",
        "the principal is not among the readers of {evidence}",
        "retrieve only what the principal may read",
    ),
    _rejected(
        "semantic.access.not_approved",
        "Cited evidence is not approved",
        "evidence {evidence} carries no approval",
        "have the item approved at ingestion; silence is refusal",
    ),
    _rejected(
        "semantic.access.deleted",
        "Cited evidence was deleted",
        "evidence {evidence} is deleted",
        "cite evidence that still exists",
    ),
    _rejected(
        "semantic.access.expired",
        "Cited evidence has expired",
        "evidence {evidence} had expired at the as-of time, or has no expiry",
        "acquire the evidence again",
    ),
    _rejected(
        "semantic.access.revoked",
        "Cited evidence was withdrawn",
        "evidence {evidence} is withdrawn in the registry",
        "generate again without the withdrawn evidence",
    ),
    _malformed(
        "semantic.source.duplicate",
        "Two evidence items share an id",
        "evidence {evidence} occurs more than once",
        "give each item an id of its own",
    ),
    _rejected(
        "semantic.source.digest_mismatch",
        "Evidence bytes are not what they should be",
        "the bytes of {evidence} do not hash to the digest that it declares",
        "find out which copy was altered before generating again",
    ),
    Rule(
        "semantic.source.bytes_missing",
        "indeterminate",
        "investigate",
        "Evidence bytes are not stored",
        "the bytes of {evidence} are named by digest and are not in the store",
        "put the bytes, then send the event under a new id",
    ),
    _rejected(
        "semantic.source.locator_unknown",
        "Citation of an undeclared part",
        "claim {claim} cites {evidence} at {locator}, which is not declared",
        "cite a locator that the item declares",
    ),
    _rejected(
        "semantic.source.locator_outside",
        "Locator lies outside its evidence",
        "locator {locator} of {evidence} does not lie inside the item's bytes",
        "declare locators on the bytes that are sent",
    ),
    Rule(
        "semantic.source.locator_unread",
        "indeterminate",
        "investigate",
        "Cited part cannot be cut out",
        "{locator} of {evidence} is a {place}, which these rules cannot cut out of the bytes",
        "cite lines or bytes, or have the part reviewed by a person",
    ),
    _rejected(
        "semantic.source.locator_digest_mismatch",
        "Located bytes are not what they should be",
        "the bytes at {locator} of {evidence} do not hash to the declared digest",
        "find out which copy was altered before generating again",
    ),
    _rejected(
        "semantic.source.parent_unknown",
        "Provenance leads nowhere",
        "evidence {evidence} was made from {parent}, which the event does not carry",
        "send the whole lineage of derived evidence",
    ),
    _malformed(
        "semantic.source.provenance_cycle",
        "Provenance goes in a circle",
        "the provenance of evidence {evidence} leads into a circle",
        "mend the parents of the item",
    ),
    _rejected(
        "semantic.time.not_observed",
        "Cited part carries no observation time",
        "the scope has a window and {evidence} at {locator} has no observation",
        "record when each cited part was observed",
    ),
    _malformed(
        "semantic.time.reversed",
        "Observation ends before it starts",
        "the observation of {evidence} at {locator} is reversed",
        "mend the clock map of the acquisition",
    ),
    _rejected(
        "semantic.time.before_window",
        "Observation starts before the window",
        "{evidence} at {locator} was observed from {found}, the window starts at {bound}",
        "mend the clock map, or ask about the right window; never widen it for all",
    ),
    _rejected(
        "semantic.time.after_window",
        "Observation does not end inside the window",
        "{evidence} at {locator} was observed until {found}, the window ends at {bound}",
        "mend the clock map, or ask about the right window; never widen it for all",
    ),
    _rejected(
        "semantic.domain.service_not_allowed",
        "Evidence is about another service",
        "evidence {evidence} is about {service}, which is not allowed here",
        "retrieve evidence about the services in scope",
    ),
    _rejected(
        "semantic.coverage.missing",
        "Cited pair was not judged",
        "no judgment on claim {claim}, evidence {evidence} at {locator}",
        "have every cited pair judged",
    ),
    _rejected(
        "semantic.coverage.unknown",
        "Judgment of a pair that is not cited",
        "a judgment on claim {claim}, evidence {evidence} at {locator} was not asked for",
        "send the judgments of this output and no others",
    ),
    _malformed(
        "semantic.coverage.duplicate",
        "Same pair judged twice by one verifier release",
        "{verifier} judged claim {claim}, evidence {evidence} at {locator} more than once",
        "send each verifier release's judgment once",
    ),
    _rejected(
        "semantic.judgment.stale",
        "Judgment is about other content",
        "{verifier} judged another {what} than claim {claim}, {evidence} at {locator} has now",
        "judge the present claim and bytes",
    ),
    _rejected(
        "semantic.judgment.unbound",
        "Judgment does not say what it judged",
        "the judgment of {verifier} on claim {claim}, {evidence} at {locator} does not name "
        "the claim text and the bytes by digest",
        "send claim_digest and selected_digest with every judgment",
    ),
    _rejected(
        "semantic.judgment.not_independent",
        "Verifier is a relative of the model",
        "{verifier} is of the model's family, or hides its family",
        "use a verifier of another family",
    ),
    _rejected(
        "semantic.adjudication.stale",
        "Adjudication settles other judgments",
        "the adjudication of claim {claim}, {evidence} at {locator} does not list exactly "
        "the judgments that stand",
        "adjudicate the judgments that stand now",
    ),
    _malformed(
        "semantic.adjudication.duplicate",
        "Two adjudications of one pair",
        "claim {claim}, {evidence} at {locator} is adjudicated more than once",
        "send one adjudication for each pair",
    ),
    _rejected(
        "semantic.support.too_few_claims",
        "Output makes too few claims",
        "the output makes {found} claims, the policy asks for {bound}",
        "make checkable claims, point the contract's view at them, or lower min_claims",
    ),
    _rejected(
        "semantic.support.uncited",
        "Claim without a citation",
        "claim {claim} cites nothing",
        "cite evidence, or file the claim as unknown",
    ),
    _rejected(
        "semantic.support.unrelated",
        "Citation does not bear on its claim",
        "{evidence} at {locator} is unrelated to claim {claim}",
        "cite a source that supports the claim, or drop the claim",
    ),
    _rejected(
        "semantic.support.unsupported",
        "Claim without a supporting citation",
        "none of the citations of claim {claim} supports it",
        "cite a source that supports the claim, or drop the claim",
    ),
    _rejected(
        "semantic.support.outdated",
        "Supporting evidence is too old",
        "evidence {evidence}, which supports claim {claim}, was acquired too long before the "
        "as-of time, or does not say when",
        "acquire the evidence again",
    ),
    _rejected(
        "semantic.support.unreliable",
        "Supporting evidence is not reliable enough",
        "evidence {evidence}, which supports claim {claim}, is less reliable than {bound} "
        "bps, or does not say how reliable it is",
        "find a more reliable source",
    ),
    Rule(
        "semantic.support.partial",
        "review",
        "review",
        "Claim is supported in part",
        "{evidence} at {locator} supports a part of claim {claim}",
        "split the claim, or have a person settle it",
    ),
    Rule(
        "semantic.support.disagreement",
        "review",
        "review",
        "Verifiers disagree",
        "verifiers disagree on claim {claim}, {evidence} at {locator}",
        "have the judgments adjudicated",
    ),
    Rule(
        "semantic.support.contradicted",
        "rejected",
        "investigate",
        "Evidence contradicts the claim",
        "{evidence} at {locator} contradicts claim {claim}",
        "investigate: the claim is too broad, the window or tenant differs, the observation is "
        "stale or corrupted, correlation was read as cause, verifiers disagree, or the domain "
        "changed; keep the opposing source listed",
    ),
    _rejected(
        "semantic.confidence.above_cap",
        "Confidence above the policy's cap",
        "claim {claim} carries {found} bps, the cap is {cap}",
        "lower the confidence, or observe directly",
    ),
    _rejected(
        "semantic.confidence.ordinal_above_cap",
        "Confidence above the policy's cap",
        "claim {claim} carries {found} confidence, the cap is {cap}",
        "lower the confidence until the calibration plan {plan} is done",
    ),
    _rejected(
        "semantic.confidence.not_calibrated",
        "Numeric confidence where none is calibrated",
        "claim {claim} carries a number, the policy allows ordinal confidence only",
        "use low, medium or high until the calibration plan {plan} is done",
    ),
    _rejected(
        "semantic.confidence.not_numeric",
        "Ordinal confidence where numbers are capped",
        "claim {claim} carries {found} confidence, the policy caps numbers only",
        "give the confidence in basis points, or cap ordinal confidence in the policy",
    ),
    _rejected(
        "semantic.severity.undeclared",
        "Severity is not declared",
        "the output declares no severity, measured is {computed}",
        "declare the severity that the measurement gives",
    ),
    _rejected(
        "semantic.severity.mismatch",
        "Severity is not what was measured",
        "the output declares {declared}, measured is {computed}",
        "declare the severity that the measurement gives",
    ),
    _rejected(
        "semantic.severity.unmeasured",
        "Severity without a measurement",
        "the event carries no measurement {measure}",
        "measure the impact; a severity is computed, never guessed",
    ),
    _rejected(
        "semantic.severity.not_independent",
        "Measurement was written by a model",
        "measurement {impact} has origin {origin}",
        "measure the impact with an instrument",
    ),
    _rejected(
        "semantic.severity.snapshot_mismatch",
        "Measurement of another snapshot",
        "measurement {impact} is not of the snapshot that the scope names",
        "measure the snapshot in scope",
    ),
    _rejected(
        "semantic.derived.undeclared",
        "Derived value is not declared",
        "the output declares no {name}, computed is {computed}",
        "declare the computed value",
    ),
    _rejected(
        "semantic.derived.mismatch",
        "Derived value is not what was computed",
        "the output declares {declared} for {name}, computed is {computed}",
        "declare the computed value",
    ),
    Rule(
        "semantic.derived.not_computed",
        "indeterminate",
        "investigate",
        "Derived value could not be computed",
        "{name} could not be computed: {problem}",
        "mend the rule in a new policy version, or send the measurement that it reads",
    ),
    _rejected(
        "semantic.root_cause.forbidden",
        "Root cause claimed where none may be",
        "the policy forbids root-cause claims",
        "file the cause as unknown",
    ),
    _rejected(
        "semantic.root_cause.unknown_claim",
        "Root cause names an unknown claim",
        "the root cause names claim {claim}, which the output does not make",
        "name claims of the same output",
    ),
    _rejected(
        "semantic.root_cause.unsupported",
        "Root cause rests on an unsupported claim",
        "claim {claim} of the root cause is not itself supported",
        "rest the root cause on supported claims only",
    ),
    _rejected(
        "semantic.root_cause.too_few_roots",
        "Root cause lacks independent origins",
        "the root cause rests on {found} independent origins, the policy asks for {bound}",
        "copies and summaries of one source count once: find another source",
    ),
    _rejected(
        "semantic.root_cause.model_only",
        "Root cause rests on model-written evidence",
        "every origin of the root cause was written by a model",
        "find a source that was recorded, not written by a model",
    ),
    _rejected(
        "semantic.root_cause.too_few_categories",
        "Root cause lacks different kinds of source",
        "the root cause rests on {found} categories of source, the policy asks for {bound}",
        "find a source of another category",
    ),
)


def _blocked(code: str, title: str, detail: str, next_: str) -> Rule:
    return Rule(code, "blocked", "reject", title, detail, next_)


def _incomplete(code: str, title: str, detail: str, next_: str) -> Rule:
    return Rule(code, "incomplete", "reject", title, detail, next_)


_BEHAVIOR = (
    _malformed(
        "behavior.identity.receipt_mismatch",
        "Semantic receipt does not belong here",
        "the semantic receipt differs from this run in {what}",
        "run the event again; the stored receipt is not one of this run",
    ),
    _malformed(
        "behavior.identity.duplicate",
        "Two parts of the trace share an id",
        "{part} {name} occurs more than once",
        "give each part an id of its own",
    ),
    _malformed(
        "behavior.identity.unknown",
        "Part of the trace names something unknown",
        "{part} {name} names {target}, which is not there",
        "send the whole trace, and no proposal that the output does not declare",
    ),
    _malformed(
        "behavior.identity.no_digest",
        "Arguments have no canonical form",
        "the arguments of proposal {proposal} have no canonical bytes, so that no approval "
        "can be bound to them",
        "write integers beyond 2^53 as strings, and whole characters only",
    ),
    _malformed(
        "behavior.identity.proposal_mismatch",
        "Proposal differs from the output's action",
        "proposal {proposal} differs from the output's action of that id in {what}",
        "send the action exactly as the model proposed it",
    ),
    _malformed(
        "behavior.time.reversed",
        "Execution ends before it starts",
        "execution {execution} is reversed",
        "mend the clock of the executor",
    ),
    _blocked(
        "behavior.identity.self_attested",
        "Section is vouched for by the party it checks",
        "the policy asks another party to vouch for {section}",
        "have the section attested by another party",
    ),
    _blocked(
        "behavior.gate.blocked",
        "Action is not allowed",
        "the policy blocks {tool}, asked for by proposal {proposal}",
        "a supported diagnosis authorises nothing: change the plan or the policy",
    ),
    Rule(
        "behavior.gate.needs_approval",
        "needs_approval",
        "review",
        "Action needs an approval",
        "proposal {proposal} ({tool}) waits for an approval",
        "approve or deny the proposal",
    ),
    _blocked(
        "behavior.gate.denied",
        "Action was denied",
        "proposal {proposal} was denied",
        "respect the decision, or propose something else",
    ),
    _blocked(
        "behavior.approval.other_arguments",
        "Approval is for other arguments",
        "the approval of proposal {proposal} is bound to other arguments",
        "ask again with the arguments that will be used",
    ),
    _blocked(
        "behavior.execution.unapproved",
        "Action was executed without approval",
        "execution {execution} of proposal {proposal} had no valid approval when it started, "
        "or the proposal was denied",
        "find out how the action got past the gate",
    ),
    _blocked(
        "behavior.execution.blocked",
        "Blocked action was executed",
        "execution {execution} ran {tool}, which the policy blocks",
        "find out how the action got past the gate",
    ),
    _blocked(
        "behavior.execution.other_arguments",
        "Executed with other arguments or another tool",
        "execution {execution} differs from proposal {proposal} in {what}",
        "find out who changed the action after it was approved",
    ),
    _blocked(
        "behavior.execution.repeated",
        "Action was executed more than once",
        "proposal {proposal} was executed {found} times",
        "make the executor idempotent, and undo the extra execution",
    ),
    _incomplete(
        "behavior.execution.missing",
        "Action was not executed",
        "proposal {proposal} was not executed",
        "execute it, or withdraw the claim",
    ),
    _incomplete(
        "behavior.execution.failed",
        "Execution failed",
        "execution {execution} of proposal {proposal} failed",
        "look into the failure before proposing again",
    ),
    _incomplete(
        "behavior.effect.missing",
        "Execution without an observable effect",
        "execution {execution} has no effect",
        "a model's done is not an effect",
    ),
    _blocked(
        "behavior.effect.unexpected",
        "Reading tool changed something",
        "execution {execution} of {tool}, which changes nothing, has an effect",
        "find out what was changed, and whether the tool only reads",
    ),
    _blocked(
        "behavior.effect.repeated",
        "Execution with more than one effect",
        "execution {execution} has {found} effects",
        "find out what else was changed",
    ),
    _incomplete(
        "behavior.state.missing",
        "Effect is not confirmed",
        "no observation of {resource} confirms execution {execution}",
        "observe the resource after the execution",
    ),
    _incomplete(
        "behavior.state.stale",
        "Confirmation is not fresh",
        "no observation of {resource} lies between the end of execution {execution} and "
        "the as-of time and is young enough",
        "observe the resource after the execution, and soon before checking",
    ),
    _incomplete(
        "behavior.state.not_independent",
        "Confirmation was written by a model",
        "the observations of {resource} were written by a model",
        "read the state from the system itself",
    ),
    _incomplete(
        "behavior.state.mismatch",
        "State is not what was expected",
        "the fresh state of {resource} is not what proposal {proposal} expects",
        "look into what the execution really did",
    ),
)

_RUN = (
    Rule(
        "run.cap_reached",
        "indeterminate",
        "investigate",
        "Check could not be completed",
        "the check was lost {losses} times while it ran alone",
        "the event stays in the dead letters; look at the workers' logs, then run it again",
    ),
    Rule(
        "run.deadline_passed",
        "indeterminate",
        "review",
        "Judgments did not come in time",
        "no judgment for every cited pair by the policy's deadline",
        "see why the verifiers did not answer, then run the event again",
    ),
    Rule(
        "evidence.revoked",
        "indeterminate",
        "investigate",
        "Evidence was withdrawn meanwhile",
        "evidence that the verdict rested on was withdrawn before it was published",
        "the next revision is being judged; wait for its result",
    ),
)

_RULES = (*_STRUCTURED, *_SEMANTIC, *_BEHAVIOR, *_RUN)

CATALOGUE: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in _RULES})
"""Every violation code, by code."""

if len(CATALOGUE) != len(_RULES):  # pragma: no cover - a programmer's mistake, found at import
    message = "a violation code stands twice in the catalogue"
    raise RuntimeError(message)

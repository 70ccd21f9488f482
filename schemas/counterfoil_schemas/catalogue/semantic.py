"""Codes of the semantic layer: identity, access, source, time, support, severity, root cause."""

from __future__ import annotations

from typing import Final

from counterfoil_schemas.catalogue.rule import Rule, malformed, mendable, rejected, undecided

RULES: Final = (
    malformed(
        "semantic.identity.receipt_mismatch",
        "Structured receipt does not belong here",
        "the structured receipt differs from this run in {what}",
        "run the event again; the stored receipt is not one of this run",
    ),
    malformed(
        "semantic.identity.contract_mismatch",
        "Policy is for another contract",
        "the policy judges {expected}, the event names {found}",
        "name a policy that was written for the event's contract",
    ),
    malformed(
        "semantic.identity.manifest_mismatch",
        "Evidence is not the declared list",
        "the {declared_by} binds another manifest than the event's evidence",
        "send the evidence that was bound, or bind what is sent",
    ),
    malformed(
        "semantic.identity.task_mismatch",
        "Policy is for another task",
        "the policy judges task {expected}, the event names {found}",
        "name the policy of this task",
    ),
    malformed(
        "semantic.identity.tenant_mismatch",
        "Policy is for another tenant",
        "the policy is bound to another tenant",
        "name a policy of this tenant",
    ),
    malformed(
        "semantic.identity.validator_mismatch",
        "Policy needs another rule version",
        "the policy needs rule version {expected}, this is {found}",
        "write a policy version for the present rules",
    ),
    rejected(
        "semantic.identity.self_attested",
        "Section is vouched for by the party it checks",
        "the policy asks another party to vouch for {section}",
        "have the section attested by another party",
    ),
    rejected(
        "semantic.access.foreign_tenant",
        "Cited evidence belongs to another tenant",
        "evidence {evidence} does not belong to the event's tenant",
        "generate again without the item: being true makes no fact usable across tenants",
    ),
    rejected(
        "semantic.access.not_reader",
        "Principal may not read cited evidence",
        "the principal is not among the readers of {evidence}",
        "retrieve only what the principal may read, and generate again without the item",
    ),
    rejected(
        "semantic.access.not_approved",
        "Cited evidence is not approved",
        "evidence {evidence} carries no approval",
        "have the item approved at ingestion, or generate again without it; silence is refusal",
    ),
    rejected(
        "semantic.access.deleted",
        "Cited evidence was deleted",
        "evidence {evidence} is deleted",
        "generate again from evidence that still exists",
    ),
    rejected(
        "semantic.access.expired",
        "Cited evidence has expired",
        "evidence {evidence} had expired at the as-of time, or has no expiry",
        "acquire the evidence again, with its new expiry, and generate again",
    ),
    rejected(
        "semantic.access.revoked",
        "Cited evidence was withdrawn",
        "evidence {evidence} is withdrawn in the registry",
        "generate again without the withdrawn evidence",
    ),
    malformed(
        "semantic.source.duplicate",
        "Two evidence items share an id",
        "evidence {evidence} occurs more than once",
        "give each item an id of its own",
    ),
    rejected(
        "semantic.source.digest_mismatch",
        "Evidence bytes are not what they should be",
        "the bytes of {evidence} do not hash to the digest that it declares",
        "find out which copy was altered before generating again",
    ),
    undecided(
        "semantic.source.bytes_missing",
        "Evidence bytes are not stored",
        "the bytes of {evidence} are named by digest and are not in the store",
        "put the bytes, then send the event under a new id",
    ),
    mendable(
        "semantic.source.locator_unknown",
        "Citation of an undeclared part",
        "claim {claim} cites {evidence} at {locator}, which is not declared; declared are {known}",
        "cite a locator that the item declares, or declare this one in the event",
        "this part of the evidence is not declared; declared are {known}. Cite one that supports "
        "the claim, or narrow the claim to what its evidence supports, or move it to the unknowns",
    ),
    rejected(
        "semantic.source.locator_outside",
        "Locator lies outside its evidence",
        "locator {locator} of {evidence} does not lie inside the item's bytes",
        "declare locators on the bytes that are sent",
    ),
    undecided(
        "semantic.source.locator_unread",
        "Cited part cannot be cut out",
        "{locator} of {evidence} is a {place}, which these rules cannot cut out of the bytes",
        "cite lines or bytes, or have the part reviewed by a person",
        by="reviewer",
    ),
    rejected(
        "semantic.source.locator_digest_mismatch",
        "Located bytes are not what they should be",
        "the bytes at {locator} of {evidence} do not hash to the declared digest",
        "find out which copy was altered before generating again",
    ),
    rejected(
        "semantic.source.parent_unknown",
        "Provenance leads nowhere",
        "evidence {evidence} was made from {parent}, which the event does not carry",
        "send the whole lineage of derived evidence",
    ),
    malformed(
        "semantic.source.provenance_cycle",
        "Provenance goes in a circle",
        "the provenance of evidence {evidence} leads into a circle",
        "mend the parents of the item",
    ),
    rejected(
        "semantic.time.not_observed",
        "Cited part carries no observation time",
        "the scope has a window and {evidence} at {locator} has no observation",
        "record when each cited part was observed",
    ),
    rejected(
        "semantic.time.in_future",
        "Evidence from after the as-of time",
        "{evidence} at {locator} was observed or acquired at {found}, after the as-of time {bound}",
        "mend the clock of the acquisition, or check again later",
    ),
    malformed(
        "semantic.time.reversed",
        "Observation ends before it starts",
        "the observation of {evidence} at {locator} is reversed",
        "mend the clock map of the acquisition",
    ),
    mendable(
        "semantic.time.before_window",
        "Observation starts before the window",
        "{evidence} at {locator} was observed from {found}, the window starts at {bound}",
        "cite evidence from inside the window; if a clock is off, mend the clock map; never "
        "widen the window for all",
        "this evidence was observed from {found} on, before the window starts at {bound} "
        "(milliseconds since 1970): cite evidence from inside the window, or move the claim to "
        "the unknowns",
    ),
    mendable(
        "semantic.time.after_window",
        "Observation does not end inside the window",
        "{evidence} at {locator} was observed until {found}, the window ends at {bound}",
        "cite evidence from inside the window; if a clock is off, mend the clock map; never "
        "widen the window for all",
        "this evidence was observed until {found}, and the window ends at {bound} (milliseconds"
        " since 1970): cite evidence from inside the window, or move the claim to the unknowns",
    ),
    mendable(
        "semantic.domain.service_not_allowed",
        "Evidence is about another service",
        "evidence {evidence} is about {service}; allowed here are {allowed}",
        "cite evidence about an allowed service, or retrieve evidence about the services in scope",
        "this evidence is about no service that is allowed here; allowed are {allowed}. Cite "
        "evidence about one of these, or move the claim to the unknowns",
    ),
    rejected(
        "semantic.coverage.missing",
        "Cited pair was not judged",
        "no judgment on claim {claim}, evidence {evidence} at {locator}",
        "have every cited pair judged, and send the judgments with the event",
    ),
    rejected(
        "semantic.coverage.unknown",
        "Judgment of a pair that is not cited",
        "a judgment on claim {claim}, evidence {evidence} at {locator} was not asked for",
        "send the judgments of this output and no others",
    ),
    malformed(
        "semantic.coverage.duplicate",
        "Same pair judged twice by one verifier release",
        "{verifier} judged claim {claim}, evidence {evidence} at {locator} more than once",
        "send each verifier release's judgment once",
    ),
    rejected(
        "semantic.judgment.stale",
        "Judgment is about other content",
        "{verifier} judged another {what} than claim {claim}, {evidence} at {locator} has now",
        "have the present claim and bytes judged, and send that judgment",
    ),
    rejected(
        "semantic.judgment.unbound",
        "Judgment does not say what it judged",
        "the judgment of {verifier} on claim {claim}, {evidence} at {locator} does not name the "
        "claim text and the bytes by digest",
        "send claim_digest and selected_digest with every judgment",
    ),
    rejected(
        "semantic.judgment.not_independent",
        "Verifier is a relative of the model",
        "{verifier} is of the model's family, or hides its family",
        "use a verifier of another family",
    ),
    rejected(
        "semantic.adjudication.stale",
        "Adjudication settles other judgments",
        "the adjudication of claim {claim}, {evidence} at {locator} does not list exactly the "
        "judgments that stand",
        "adjudicate the judgments that stand now",
        by="reviewer",
    ),
    rejected(
        "semantic.adjudication.unfounded",
        "Adjudication where nothing is to be settled",
        "the judgments on claim {claim}, {evidence} at {locator} do not disagree, or none of them"
        " says what the adjudication says",
        "adjudicate only judgments that disagree, and for one of their sides",
        by="reviewer",
    ),
    rejected(
        "semantic.adjudication.not_independent",
        "Adjudicator settles its own verdict",
        "the adjudicator of claim {claim}, {evidence} at {locator} is one of its verifiers",
        "have another party adjudicate",
        by="reviewer",
    ),
    malformed(
        "semantic.adjudication.duplicate",
        "Two adjudications of one pair",
        "claim {claim}, {evidence} at {locator} is adjudicated more than once",
        "send one adjudication for each pair",
    ),
    mendable(
        "semantic.support.too_few_claims",
        "Output makes too few claims",
        "the output makes {found} claims, the policy asks for at least {bound}",
        "make checkable claims, point the contract's view at them, or lower min_claims",
        "this makes {found} checkable claims, and at least {bound} are asked for: state what the "
        "evidence supports as claims with citations, and invent none",
    ),
    mendable(
        "semantic.support.uncited",
        "Claim without a citation",
        "claim {claim} cites nothing",
        "cite the evidence that supports the claim, or move it to the unknowns",
        "this claim cites nothing: cite evidence that supports it, or move it to the unknowns",
    ),
    mendable(
        "semantic.support.unrelated",
        "Citation does not bear on its claim",
        "{evidence} at {locator} is unrelated to claim {claim}",
        "cite a source that supports the claim, narrow the claim to what is supported, or move it"
        " to the unknowns",
        "this evidence does not bear on the claim: cite evidence that supports it, or narrow the "
        "claim to what its evidence supports, or move it to the unknowns",
    ),
    mendable(
        "semantic.support.unsupported",
        "Claim without a supporting citation",
        "none of the citations of claim {claim} supports it",
        "cite a source that supports the claim, narrow the claim to what is supported, or move it"
        " to the unknowns",
        "none of the citations supports this claim: cite evidence that does, or narrow the claim "
        "to what its evidence supports, or move it to the unknowns",
    ),
    rejected(
        "semantic.support.outdated",
        "Supporting evidence is too old",
        "evidence {evidence}, which supports claim {claim}, was acquired too long before the as-"
        "of time, or does not say when",
        "acquire the evidence again",
    ),
    rejected(
        "semantic.support.unreliable",
        "Supporting evidence is not reliable enough",
        "evidence {evidence}, which supports claim {claim}, is less reliable than {bound} bps, or"
        " does not say how reliable it is",
        "find a more reliable source, or state the item's reliability at ingestion",
    ),
    Rule(
        "semantic.support.partial",
        "review",
        "review",
        "Claim is supported in part",
        "{evidence} at {locator} supports a part of claim {claim}",
        "have a person settle it, or generate again with the claim split into what is supported "
        "and what is not",
        "reviewer",
    ),
    Rule(
        "semantic.support.disagreement",
        "review",
        "review",
        "Verifiers disagree",
        "verifiers disagree on claim {claim}, {evidence} at {locator}",
        "have the judgments adjudicated",
        "reviewer",
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
        "reviewer",
    ),
    mendable(
        "semantic.confidence.above_cap",
        "Confidence above the policy's cap",
        "claim {claim} carries {found} bps, the cap of its kind is {cap}",
        "lower the confidence to the cap, or observe directly",
        "the confidence is {found} basis points, and at most {cap} is allowed for this kind of "
        "claim: lower it, and leave the kind as it is",
    ),
    mendable(
        "semantic.confidence.ordinal_above_cap",
        "Confidence above the policy's cap",
        "claim {claim} carries {found} confidence, the cap is {cap}",
        "lower the confidence until the calibration plan {plan} is done",
        "the confidence is higher than {cap}, the most that is allowed for this kind of claim: "
        "lower it, and leave the kind as it is",
    ),
    mendable(
        "semantic.confidence.not_calibrated",
        "Numeric confidence where none is calibrated",
        "claim {claim} carries a number, the policy allows ordinal confidence only",
        "use low, medium or high until the calibration plan {plan} is done",
        "expected is the word low, medium or high for the confidence, and no number",
    ),
    mendable(
        "semantic.confidence.not_numeric",
        "Ordinal confidence where numbers are capped",
        "claim {claim} carries {found} confidence, the policy caps numbers only",
        "give the confidence in basis points, or cap ordinal confidence in the policy",
        "expected is the confidence as a number of basis points from 0 to 10000, and no word",
    ),
    mendable(
        "semantic.severity.undeclared",
        "Severity is not declared",
        "the output declares no severity, measured is {computed}",
        "declare the severity that the measurement gives",
        "declare the severity here; measured is {computed}",
    ),
    mendable(
        "semantic.severity.mismatch",
        "Severity is not what was measured",
        "the output declares {declared}, measured is {computed}",
        "declare the severity that the measurement gives",
        "the declared severity is not what was measured: declare {computed}",
    ),
    rejected(
        "semantic.severity.unmeasured",
        "Severity without a measurement",
        "the event carries no measurement {measure}",
        "measure the impact; a severity is computed, never guessed",
    ),
    rejected(
        "semantic.severity.not_independent",
        "Measurement was written by a model",
        "measurement {impact} has origin {origin}",
        "measure the impact with an instrument",
    ),
    rejected(
        "semantic.severity.snapshot_mismatch",
        "Measurement of another snapshot",
        "measurement {impact} is not of the snapshot that the scope names",
        "measure the snapshot in scope",
    ),
    mendable(
        "semantic.derived.undeclared",
        "Derived value is not declared",
        "the output declares no {name}, computed is {computed}",
        "declare the computed value",
        "declare the value of {name} here; computed is {computed}",
    ),
    mendable(
        "semantic.derived.mismatch",
        "Derived value is not what was computed",
        "the output declares {declared} for {name}, computed is {computed}",
        "declare the computed value",
        "the declared value of {name} is not what was computed: declare {computed}",
    ),
    undecided(
        "semantic.derived.not_computed",
        "Derived value could not be computed",
        "{name} could not be computed: {problem}",
        "mend the rule in a new policy version, or send the measurement that it reads",
    ),
    mendable(
        "semantic.root_cause.forbidden",
        "Root cause claimed where none may be",
        "the policy forbids root-cause claims",
        "claim no root cause, and name what is open among the unknowns",
        "no root cause may be claimed here: take it out, and name what is open among the unknowns",
    ),
    mendable(
        "semantic.root_cause.unknown_claim",
        "Root cause names an unknown claim",
        "the root cause names claim {claim}, which the output does not make",
        "name ids of claims that the same output makes",
        "the output makes no claim with this id: name the id of a claim that it makes, or claim "
        "no root cause and name it among the unknowns",
    ),
    mendable(
        "semantic.root_cause.unsupported",
        "Root cause rests on an unsupported claim",
        "claim {claim} of the root cause is not itself supported",
        "rest the root cause on supported claims only, or claim no root cause and name it among "
        "the unknowns",
        "this claim of the root cause is not itself supported: rest the root cause on supported "
        "claims only, or claim no root cause and name it among the unknowns",
    ),
    mendable(
        "semantic.root_cause.too_few_roots",
        "Root cause lacks independent origins",
        "the root cause rests on {found} independent origins, the policy asks for {bound}",
        "find another source, for copies and summaries of one count once, or claim no root cause "
        "and name it among the unknowns",
        "the root cause rests on {found} independent sources, and at least {bound} are asked for;"
        " copies and summaries of one source count once. Rest it on claims with more, or claim no"
        " root cause and name it among the unknowns",
    ),
    mendable(
        "semantic.root_cause.model_only",
        "Root cause rests on model-written evidence",
        "every origin of the root cause was written by a model",
        "find a source that was recorded, not written by a model, or claim no root cause and name"
        " it among the unknowns",
        "everything that the root cause rests on was written by a model: rest it on evidence that"
        " was recorded, or claim no root cause and name it among the unknowns",
    ),
    mendable(
        "semantic.root_cause.too_few_categories",
        "Root cause lacks different kinds of source",
        "the root cause rests on {found} categories of source, the policy asks for {bound}",
        "find a source of another category, or claim no root cause and name it among the unknowns",
        "the root cause rests on {found} categories of source, and at least {bound} are asked "
        "for: rest it on claims with more, or claim no root cause and name it among the unknowns",
    ),
)

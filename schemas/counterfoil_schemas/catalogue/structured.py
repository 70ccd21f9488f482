"""Codes of the structured layer: the event, its ending, its JSON, its schema, its citations."""

from __future__ import annotations

from typing import Final

from counterfoil_schemas.catalogue.rule import malformed, rejected

RULES: Final = (
    malformed(
        "structured.event.invalid",
        "Event does not follow the wire contract",
        "the event's data is wrong at {where}: {problem}",
        "correct the producer: the wire contract lists every field",
    ),
    malformed(
        "structured.event.unknown_type",
        "Unknown event type",
        "events of type {event_type} are not known here",
        "send counterfoil.generation.v1, or upgrade the workers before the producers",
    ),
    malformed(
        "structured.event.foreign_tenant",
        "Event names another tenant",
        "the data names a tenant other than the one whose inbox it was written to",
        "write to the inbox of the tenant that the data names, or drop the field",
    ),
    malformed(
        "structured.event.conflict",
        "Identity reused for other data",
        "this source and id already belong to an event with other data",
        "give every generation an id of its own; the first event is untouched",
    ),
    malformed(
        "structured.contract.unknown",
        "Unknown output contract",
        "no contract {ref} is stored for this tenant",
        "put the contract first, then send the event under a new id",
    ),
    malformed(
        "structured.policy.unknown",
        "Unknown policy",
        "no policy {ref} is stored for this tenant",
        "put the policy first, then send the event under a new id",
    ),
    malformed(
        "structured.profile.contract_not_granted",
        "Contract not granted to the tenant",
        "the tenant's profile does not grant the contract {ref}",
        "use a contract that is granted, or ask the operator for a profile that grants this one",
    ),
    malformed(
        "structured.profile.policy_not_granted",
        "Policy not granted to the tenant",
        "the tenant's profile does not grant the policy {ref}",
        "use a policy that is granted, or ask the operator for a profile that grants this one",
    ),
    malformed(
        "structured.profile.lane_not_granted",
        "Lane not granted to the tenant",
        "the tenant's profile does not grant the lane {lane}",
        "submit to a lane that is granted, or ask the operator for a profile that grants this one",
    ),
    malformed(
        "structured.profile.inline_not_granted",
        "Section not granted to the tenant",
        "the tenant's profile does not let events bring {section} themselves",
        "leave the section to the party that vouches for it; name stored evidence by digest",
    ),
    malformed(
        "structured.output.undecodable",
        "Output bytes cannot be read",
        "text_base64 is not base64",
        "send the output's exact bytes as base64 (RFC 4648)",
    ),
    rejected(
        "structured.output.media_type",
        "Output has another media type",
        "the contract asks for {expected}, the output says {found}",
        "ask the model for the contract's media type",
    ),
    rejected(
        "structured.ending.incomplete",
        "Output was cut off",
        "the model stopped for {finish_reason}, so the text is not whole",
        "raise the token limit or ask for less, and generate again",
    ),
    rejected(
        "structured.ending.filtered",
        "Output was filtered by the provider",
        "the provider ended the output with {finish_reason}",
        "look into what was filtered before asking again",
    ),
    rejected(
        "structured.ending.failed",
        "Generation failed",
        "the provider ended the output with {finish_reason}",
        "generate again",
    ),
    rejected(
        "structured.ending.unexpected",
        "Output ended in a way the contract does not allow",
        "the contract allows other endings than {finish_reason}",
        "list the ending in the contract's endings if it is legitimate",
    ),
    rejected(
        "structured.refusal.forbidden",
        "Model declined where it may not",
        "the contract does not allow a refusal",
        "allow refusals in the contract, or route the request elsewhere",
    ),
    rejected(
        "structured.output.too_large",
        "Output exceeds the contract's limits",
        "the output exceeds {limit} ({bound})",
        "ask for less, or raise the contract's limit in a new version",
    ),
    rejected(
        "structured.json.invalid",
        "Output is not one JSON value",
        "the text is not one complete JSON value: {problem} at byte {offset}",
        "constrain the model's decoding to JSON; nothing is repaired here",
    ),
    rejected(
        "structured.json.duplicate_key",
        "Output repeats a member name",
        "an object has the same member twice, near byte {offset}",
        "constrain the model's decoding; readers would disagree on the value",
    ),
    rejected(
        "structured.schema.violated",
        "Output does not match the schema",
        "the value at {where} fails {keyword}",
        "compare the place with the contract's schema",
    ),
    rejected(
        "structured.invariant.failed",
        "Output breaks an invariant",
        "invariant {invariant} does not hold: {message}",
        "compare the output with the contract's invariant",
    ),
    rejected(
        "structured.invariant.not_computed",
        "Invariant could not be computed",
        "invariant {invariant} could not be computed: {problem}",
        "mend the invariant in a new contract version; what cannot be computed never passes",
    ),
    rejected(
        "structured.view.mismatch",
        "Output does not fit the contract's view",
        "the view expects {expected} at {where}",
        "tighten the schema so that it guarantees what the view reads",
    ),
    rejected(
        "structured.claim.duplicate",
        "Two claims share an id",
        "claim {claim} occurs more than once",
        "give each claim an id of its own",
    ),
    rejected(
        "structured.citation.unknown_evidence",
        "Citation of unknown evidence",
        "claim {claim} cites {evidence}, which the event does not carry",
        "cite only evidence that the model was given",
    ),
    rejected(
        "structured.text.invalid",
        "Output is not a text that all read alike",
        "the text holds {problem} at byte {offset}",
        "ask for plain UTF-8 without control characters and raw HTML; nothing is repaired here",
    ),
    rejected(
        "structured.mark.malformed",
        "Mark cannot be read",
        "the text holds {problem}",
        "write marks as the contract has them: [1], [log-1], [log-1:L1], [1, 2] or [^note]",
    ),
    rejected(
        "structured.mark.ambiguous",
        "Mark can be read in two ways",
        "{mark} names more than one part of the evidence",
        "give evidence items ids that are no numbers and no other item's id with a locator",
    ),
    rejected(
        "structured.mark.no_locator",
        "Mark does not say which part it cites",
        "evidence {evidence} has {found} locators, the mark names none",
        "name the locator: [id:locator]; only an item with exactly one is cited without",
    ),
    rejected(
        "structured.mark.unattached",
        "Mark without a sentence",
        "the mark stands where no sentence is",
        "write the mark inside the sentence that it belongs to, or directly after it",
    ),
    rejected(
        "structured.footnote.undefined",
        "Footnote is not defined",
        "footnote {label} is used, and no line defines it",
        "define each footnote in a line of its own: [^{label}]: id:locator",
    ),
    rejected(
        "structured.footnote.unused",
        "Footnote is never used",
        "footnote {label} is defined, and no sentence uses it",
        "use the footnote where it is cited, or drop its definition",
    ),
    rejected(
        "structured.footnote.duplicate",
        "Footnote is defined twice",
        "footnote {label} is defined more than once",
        "give each footnote a label of its own",
    ),
)

"""Codes of the structured layer: the event, its ending, its JSON, its schema, its citations."""

from __future__ import annotations

from typing import Final

from counterfoil_schemas.catalogue.rule import malformed, mendable, rejected, undecided

RULES: Final = (
    malformed(
        "structured.event.invalid",
        "Event does not follow the wire contract",
        "the event's data is wrong at {where}: {problem}",
        "correct the producer at this place: the wire contract lists every field and its type",
    ),
    malformed(
        "structured.event.unknown_type",
        "Unknown event type",
        "events of type {event_type} are not known here; known is {expected}",
        "send the type that is known, or upgrade the workers before the producers",
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
        "send the output under the contract's media type, or name a contract for the other one",
    ),
    rejected(
        "structured.ending.incomplete",
        "Output was cut off",
        "the model stopped for {finish_reason}, so the text is not whole; the contract takes "
        "{expected}",
        "raise the token limit, or ask for less; then generate again under a new id",
    ),
    rejected(
        "structured.ending.filtered",
        "Output was filtered by the provider",
        "the provider ended the output with {finish_reason}; the contract takes {expected}",
        "look into what was filtered and change the request; then generate again under a new id",
    ),
    rejected(
        "structured.ending.failed",
        "Generation failed",
        "the provider ended the output with {finish_reason}; the contract takes {expected}",
        "look at the provider's error, then generate again under a new id",
    ),
    rejected(
        "structured.ending.unexpected",
        "Output ended in a way the contract does not allow",
        "the model ended with {finish_reason}; the contract takes {expected}",
        "send the answer that the model ends normally, or list the ending in a new contract "
        "version if it is legitimate",
    ),
    rejected(
        "structured.refusal.forbidden",
        "Model declined where it may not",
        "the model declined, and the contract does not allow a refusal",
        "route the request elsewhere, or allow refusals in a new contract version",
    ),
    mendable(
        "structured.output.too_large",
        "Output exceeds the contract's limits",
        "the output exceeds the contract's {limit}, which is {bound}",
        "say less and generate again, or raise the limit in a new contract version",
        "keep within the contract's {limit}, which is {bound}: say less, but nothing less well "
        "supported",
    ),
    mendable(
        "structured.json.invalid",
        "Output is not one JSON value",
        "the text is not one complete JSON value: {problem} at byte {offset} (line {line}, column"
        " {column}); expected is {expected}",
        "write one JSON value with nothing before or after it; decoding that is constrained to "
        "JSON prevents this, and nothing is repaired here",
        "the text is not one complete JSON value; at line {line}, column {column} (byte {offset})"
        " expected is {expected}",
    ),
    mendable(
        "structured.json.duplicate_key",
        "Output repeats a member name",
        "an object has the same member twice, at byte {offset} (line {line}, column {column}); "
        "expected is each name once",
        "keep one of the two members: readers would disagree on which counts",
        "an object has the same member twice, the second time at line {line}, column {column} "
        "(byte {offset}): write each name once",
    ),
    mendable(
        "structured.schema.violated",
        "Output does not match the schema",
        "the value at {where} fails {keyword}; expected is {expected}",
        "make this place what is expected; the contract's schema says it at {rule}",
        "expected is {expected}",
    ),
    mendable(
        "structured.invariant.failed",
        "Output breaks an invariant",
        "invariant {invariant} does not hold: {message}",
        "change the output so that the invariant's message holds, without leaving out what is true",
        "this has to hold: {message}",
    ),
    undecided(
        "structured.invariant.not_computed",
        "Invariant could not be computed",
        "invariant {invariant} could not be computed: {problem}",
        "in a new contract version, have the schema require what the invariant reads, or guard it"
        " with has(..) or size(..); what cannot be computed is no verdict",
    ),
    mendable(
        "structured.view.mismatch",
        "Output does not fit the contract's view",
        "the view expects {expected} at {where}",
        "write at this place what is expected there; a schema that requires it tells the model "
        "beforehand",
        "expected is {expected}",
    ),
    mendable(
        "structured.claim.duplicate",
        "Two claims share an id",
        "claim {claim} occurs more than once",
        "give each claim an id of its own, and name it by that wherever it is referred to",
        "this claim has the id of an earlier one: give it an id of its own, and use that wherever"
        " this claim is meant",
    ),
    mendable(
        "structured.citation.unknown_evidence",
        "Citation of unknown evidence",
        "claim {claim} cites {evidence}, which the event does not carry; it carries {known}",
        "cite an item that the model was given, or move the claim to the unknowns; if the model "
        "was given this one, send it with the event",
        "no such evidence was given; given are {known}. Cite one that supports the claim, or "
        "narrow the claim to what its evidence supports, or move it to the unknowns",
    ),
    mendable(
        "structured.action.unknown_tool",
        "Action calls an unknown tool",
        "action {action} calls {tool}, which the contract does not list; its tools are {known}",
        "call one of the contract's tools, or leave the action out",
        "no such tool: there are {known}. Call one of these, or leave the action out",
    ),
    mendable(
        "structured.action.arguments",
        "Action has arguments that its tool does not take",
        "the arguments of action {action} for {tool} at {where} fail {keyword}; expected is"
        " {expected}",
        "write the arguments as the tool's schema in the contract has them",
        "expected is {expected}",
    ),
    mendable(
        "structured.text.invalid",
        "Output is not a text that all read alike",
        "the text holds {problem} at byte {offset} (line {line}, column {column})",
        "write plain UTF-8 without control characters and raw HTML; nothing is repaired here",
        "at line {line}, column {column} (byte {offset}) expected is plain text: no control"
        " characters, no byte order mark and no raw HTML",
    ),
    mendable(
        "structured.mark.malformed",
        "Mark cannot be read",
        "the text holds {problem} (line {line}, column {column})",
        "write marks as the contract has them: [1], [log-1], [log-1:L1], [1, 2] or [^note]",
        "at line {line}, column {column} a bracket is not a mark that can be read: write marks"
        " like [1], [log-1], [log-1:L1], [1, 2] or [^note], and no other brackets",
    ),
    rejected(
        "structured.mark.ambiguous",
        "Mark can be read in two ways",
        "{mark} names more than one part of the evidence (line {line}, column {column})",
        "give evidence items ids that are no numbers and no other item's id with a locator",
    ),
    mendable(
        "structured.mark.no_locator",
        "Mark does not say which part it cites",
        "evidence {evidence} has {found} locators, the mark names none (line {line}, column"
        " {column}); its locators are {known}",
        "name the locator: [id:locator]; only an item with exactly one is cited without",
        "at line {line}, column {column} the mark does not say which part it cites: write"
        " [id:locator], of the locators {known}",
    ),
    mendable(
        "structured.mark.unattached",
        "Mark without a sentence",
        "the mark stands where no sentence is (line {line}, column {column})",
        "write the mark inside the sentence that it belongs to, or directly after it",
        "at line {line}, column {column} a mark stands where no sentence is: write it inside the"
        " sentence that it belongs to, or directly after it",
    ),
    mendable(
        "structured.footnote.undefined",
        "Footnote is not defined",
        "footnote {label} is used, and no line defines it (line {line}, column {column})",
        "define each footnote in a line of its own: [^{label}]: id:locator",
        "the footnote used at line {line}, column {column} is not defined: define each in a line"
        " of its own, like [^note]: id:locator",
    ),
    mendable(
        "structured.footnote.unused",
        "Footnote is never used",
        "footnote {label} is defined, and no sentence uses it (line {line}, column {column})",
        "use the footnote where it is cited, or drop its definition",
        "the footnote defined at line {line}, column {column} is never used: use it where it is"
        " cited, or drop its definition",
    ),
    mendable(
        "structured.footnote.duplicate",
        "Footnote is defined twice",
        "footnote {label} is defined more than once (line {line}, column {column})",
        "give each footnote a label of its own",
        "the footnote at line {line}, column {column} has the label of an earlier one: give each"
        " a label of its own, and use that where it is meant",
    ),
)

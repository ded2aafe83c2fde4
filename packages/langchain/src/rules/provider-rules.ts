/**
 * The table of what each provider refuses in conversations and tools. `prepare-request.ts` prepares requests by
 * it, and the stubs of `@tutti/langchain/testing` refuse what it says. Each rule names its public source.
 *
 * A provider that is not listed, such as a server with OpenAI's API, has the rules of {@link COMPATIBLE}. Models
 * of some families have further rules with every provider, because gateways pass requests on to their makers.
 */
import { combineRules } from './combine-rules.ts'

import type { ModelIdentity } from '../providers.ts'
import type { KeywordRule, NameRule, ProviderRules, Rule } from './rule.ts'

const JSON_SURROGATES: Rule = {
  source: 'https://github.com/anthropics/claude-code/issues/60394',
  refusal: 'The request body is not valid JSON: no low surrogate in string',
}

/** @see https://platform.openai.com/docs/api-reference/chat/create */
const OPENAI_TOOL_NAME: NameRule = {
  source: 'https://platform.openai.com/docs/api-reference/chat/create',
  refusal:
    "Invalid '{at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'.",
  pattern: /^[a-zA-Z0-9_-]{1,64}$/,
  maxLength: 64,
  separator: '_',
}

/** Rules of OpenAI that servers with its API have copied or pass on. */
const COMPATIBLE: ProviderRules = {
  surrogates: { ...JSON_SURROGATES, source: 'https://github.com/anomalyco/opencode/issues/17758' },
  toolName: OPENAI_TOOL_NAME,
  toolCallId: {
    source: 'https://github.com/vercel/ai/issues/5171',
    refusal:
      "Invalid '{at}': string too long. Expected a string with maximum length 40, but got a string with length {length} instead.",
    pattern: /^[^]{1,40}$/,
    maxLength: 40,
    separator: '_',
  },
}

const OPENAI: ProviderRules = {
  ...COMPATIBLE,
  arrayItems: {
    source: 'https://github.com/digitalocean-labs/mcp-digitalocean/issues/265',
    refusal: "Invalid schema for function '{value}': In context={at}, array schema missing items.",
  },
  objectProperties: {
    source: 'https://github.com/spring-projects/spring-ai/issues/4776',
    refusal:
      "Invalid schema for function '{value}': In context={at}, object schema missing properties.",
  },
}

/** OpenAI's Responses API; its class chooses it per call, so requests are prepared by the stricter {@link OPENAI}. */
const OPENAI_RESPONSES: ProviderRules = {
  ...OPENAI,
  toolCallId: {
    source: 'https://github.com/openclaw/openclaw/pull/875',
    refusal:
      "Invalid '{at}': string too long. Expected a string with maximum length 64, but got a string with length {length} instead.",
    pattern: /^[^]{1,64}$/,
    maxLength: 64,
    separator: '_',
  },
}

const ANTHROPIC_CALL_ID: NameRule = {
  source: 'https://github.com/anomalyco/opencode/issues/1279',
  refusal: "{at}: String should match pattern '^[a-zA-Z0-9_-]+$'",
  pattern: /^[a-zA-Z0-9_-]+$/,
  maxLength: 40,
  separator: '_',
}

/** Rules of Claude's own API that gateways and clouds pass on. */
const CLAUDE = {
  toolCallId: ANTHROPIC_CALL_ID,
  uniqueToolCallIds: {
    source: 'https://github.com/anthropics/claude-code/issues/28515',
    refusal: '{at}: `tool_use` ids must be unique',
  },
  propertyName: {
    source: 'https://github.com/ComposioHQ/composio/issues/3500',
    refusal: "{at}: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
    pattern: /^[a-zA-Z0-9_.-]{1,64}$/,
    maxLength: 64,
    separator: '_',
  },
  tupleItems: {
    source: 'https://github.com/openclaw/openclaw/issues/98588',
    refusal:
      '{at}: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12)',
  },
  blank: {
    source: 'https://github.com/LibreChat-AI/agents/pull/124',
    refusal: 'messages: text content blocks must contain non-whitespace text',
    roles: ['system', 'user', 'assistant'],
    blank: 'whitespace',
  },
} as const satisfies Partial<ProviderRules>

const ANTHROPIC: ProviderRules = {
  ...CLAUDE,
  surrogates: JSON_SURROGATES,
  toolName: {
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use',
    refusal: "{at}: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
    pattern: /^[a-zA-Z0-9_-]{1,64}$/,
    maxLength: 64,
    separator: '_',
  },
  systemFirst: {
    source: 'https://platform.claude.com/docs/en/api/openai-sdk',
    refusal: "{at}.role: Input should be 'user' or 'assistant'",
  },
  userFirst: {
    source: 'https://github.com/langchain4j/langchain4j/issues/940',
    refusal: 'messages: first message must use the "user" role',
  },
  trailingSpace: {
    source: 'https://github.com/langchain-ai/langchain/pull/35072',
    refusal: 'messages: final assistant content cannot end with trailing whitespace',
  },
}

const GEMINI_KEYWORDS: KeywordRule = {
  source: 'https://ai.google.dev/api/caching#Schema',
  refusal: `Invalid JSON payload received. Unknown name "{value}" at '{at}': Cannot find field.`,
  keywords: new Set([
    'anyOf',
    'default',
    'description',
    'enum',
    'example',
    'format',
    'items',
    'maxItems',
    'maxLength',
    'maxProperties',
    'maximum',
    'minItems',
    'minLength',
    'minProperties',
    'minimum',
    'nullable',
    'pattern',
    'properties',
    'propertyOrdering',
    'required',
    'title',
    'type',
  ]),
  formats: {
    string: ['date-time', 'enum'],
    number: ['double', 'float'],
    integer: ['int32', 'int64'],
  },
}

const GEMINI: ProviderRules = {
  surrogates: {
    source: 'https://protobuf.dev/programming-guides/proto3/#scalar',
    refusal: 'Invalid JSON payload received. Unexpected token.',
  },
  toolName: {
    source: 'https://github.com/google-gemini/gemini-cli/issues/2966',
    refusal:
      '* GenerateContentRequest.{at}: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.) or dashes (-), with a maximum length of 64.',
    pattern: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/,
    maxLength: 64,
    separator: '_',
  },
  // NOTE: the service receives no ids: the class of LangChain finds the name of a result by the id of its call.
  uniqueToolCallIds: {
    source:
      'https://github.com/langchain-ai/langchainjs/blob/main/libs/providers/langchain-google-genai/src/utils/common.ts',
    refusal:
      'Please ensure that the function response parts have the names of the function call parts of the function call turn.',
  },
  blank: {
    source: 'https://github.com/vercel/ai/issues/3775',
    refusal: '* GenerateContentRequest.{at}.parts: contents.parts must not be empty.',
    roles: ['system', 'user', 'assistant'],
    blank: 'empty',
  },
  systemFirst: {
    source: 'https://ai.google.dev/api/caching#Content',
    refusal: 'Please use a valid role: user, model.',
  },
  userFirst: {
    source: 'https://github.com/diegosouzapw/OmniRoute/pull/13573',
    refusal:
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
  },
  userLast: {
    source: 'https://github.com/crewAIInc/crewAI/pull/6973',
    refusal: 'Please ensure that multiturn requests end with a user turn.',
  },
  emptyObject: {
    source: 'https://github.com/brainlid/langchain/pull/183',
    refusal: '* GenerateContentRequest.{at}.properties: should be non-empty for OBJECT type',
  },
  keywords: GEMINI_KEYWORDS,
}

const MISTRAL_FAMILY = {
  toolCallId: {
    source: 'https://github.com/anomalyco/opencode/issues/1680',
    refusal: 'Tool call id was {value} but must be a-z, A-Z, 0-9, with a length of 9.',
    pattern: /^[a-zA-Z0-9]{9}$/,
    maxLength: 9,
    separator: '',
  },
  blank: {
    source: 'https://github.com/OpenHands/OpenHands/issues/8685',
    refusal: 'Assistant message must have either content or tool_calls, but not none.',
    roles: ['assistant'],
    blank: 'empty',
  },
  systemFirst: {
    source: 'https://github.com/mistralai/mistral-common',
    refusal: "Unexpected role 'system' after role 'assistant'",
  },
  alternation: {
    source: 'https://github.com/charmbracelet/crush/issues/279',
    refusal:
      'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
  },
  assistantAfterTool: {
    source: 'https://github.com/NousResearch/hermes-agent/issues/20154',
    refusal: "Unexpected role 'user' after role 'tool'",
  },
  userLast: {
    source: 'https://github.com/0xPlaygrounds/rig/pull/1130',
    refusal:
      'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
  },
} as const satisfies Partial<ProviderRules>

const MISTRAL: ProviderRules = {
  ...COMPATIBLE,
  ...MISTRAL_FAMILY,
  toolName: {
    ...OPENAI_TOOL_NAME,
    source: 'https://github.com/Kochava-Studios/witsy/pull/164',
    refusal:
      'Function name was {value} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.',
  },
}

const DEEPSEEK: ProviderRules = {
  ...COMPATIBLE,
  blank: {
    source: 'https://github.com/carlrobertoh/ProxyAI/issues/834',
    refusal: 'Invalid assistant message: content or tool_calls must be set',
    roles: ['assistant'],
    blank: 'empty',
  },
}

const XAI: ProviderRules = {
  ...COMPATIBLE,
  blank: {
    source: 'https://github.com/langbot-app/LangBot/issues/1205',
    refusal:
      'An empty message was provided. Every message needs at least one non-empty content element.',
    roles: ['system', 'user', 'assistant'],
    blank: 'empty',
  },
}

const PERPLEXITY_ORDER: Rule = {
  source: 'https://github.com/perplexityai/api-discussion/issues/265',
  refusal:
    'After the (optional) system message(s), user and assistant roles should be alternating.',
}

const PERPLEXITY: ProviderRules = {
  ...COMPATIBLE,
  blank: {
    source: 'https://github.com/InfinitiBit/graphbit/pull/163',
    refusal: 'Message content must not be empty.',
    roles: ['system', 'user', 'assistant'],
    blank: 'empty',
  },
  systemFirst: PERPLEXITY_ORDER,
  userFirst: { ...PERPLEXITY_ORDER, source: 'https://github.com/livekit/agents/pull/1529' },
  alternation: PERPLEXITY_ORDER,
}

const COHERE: ProviderRules = {
  ...COMPATIBLE,
  blank: {
    source: 'https://github.com/kwaroran/Risuai/issues/504',
    refusal:
      'invalid request: message must be at least 1 token long or tool results must be specified.',
    roles: ['user', 'assistant'],
    blank: 'empty',
  },
}

const BEDROCK_NAME: NameRule = {
  source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html',
  refusal:
    "Value '{value}' at '{at}' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
  pattern: /^[a-zA-Z0-9_-]{1,64}$/,
  maxLength: 64,
  separator: '_',
}

const BEDROCK: ProviderRules = {
  surrogates: JSON_SURROGATES,
  toolName: BEDROCK_NAME,
  toolCallId: BEDROCK_NAME,
  blank: {
    source: 'https://github.com/NousResearch/hermes-agent/pull/60628',
    refusal:
      'The text field in the ContentBlock object at {at} is blank. Add text to the text field, and try again.',
    roles: ['system', 'user', 'assistant', 'tool'],
    blank: 'whitespace',
  },
  systemFirst: {
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html',
    refusal:
      "Value 'system' at '{at}.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]",
  },
  userFirst: {
    source: 'https://github.com/NousResearch/hermes-agent/pull/63983',
    refusal:
      'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
  },
}

/** Rules by the name of a provider, and by the names that instances of LangChain's classes report. */
export const PROVIDER_RULES: Readonly<Record<string, ProviderRules>> = {
  anthropic: ANTHROPIC,
  aws: BEDROCK,
  azure_openai: OPENAI,
  bedrock: BEDROCK,
  chat_bedrock_converse: BEDROCK,
  cerebras: COMPATIBLE,
  chat_integration: GEMINI,
  cohere: COHERE,
  compatible: COMPATIBLE,
  deepseek: DEEPSEEK,
  fireworks: COMPATIBLE,
  google: GEMINI,
  'google-genai': GEMINI,
  'google-vertexai': GEMINI,
  'google-vertexai-web': GEMINI,
  googlegenerativeai: GEMINI,
  groq: COMPATIBLE,
  langsmith: COMPATIBLE,
  mistral: MISTRAL,
  mistral_ai: MISTRAL,
  mistralai: MISTRAL,
  ollama: COMPATIBLE,
  openai: OPENAI,
  'openai-responses': OPENAI_RESPONSES,
  perplexity: PERPLEXITY,
  together: COMPATIBLE,
  together_ai: COMPATIBLE,
  xai: XAI,
}

/** Further rules of model families, by name. */
const FAMILIES: readonly (readonly [name: RegExp, rules: Partial<ProviderRules>])[] = [
  [/claude/i, CLAUDE],
  [
    /claude-[a-z]+-(?:4[-.][6-9]|[5-9](?!\d))/i,
    {
      userLast: {
        source: 'https://github.com/ericc-ch/copilot-api/pull/261',
        refusal:
          'This model does not support assistant message prefill. The conversation must end with a user message.',
      },
    },
  ],
  [/gemini/i, { keywords: GEMINI_KEYWORDS }],
  [/(?:mis|minis|magis|codes|devs)tral|mixtral|pixtral/i, MISTRAL_FAMILY],
]

const found = new WeakMap<ModelIdentity, ProviderRules>()

/** Returns the rules of a model. */
export function rulesFor(identity: ModelIdentity): ProviderRules {
  let rules = found.get(identity)
  if (rules === undefined) {
    const { provider, name } = identity
    const own = Object.hasOwn(PROVIDER_RULES, provider) ? PROVIDER_RULES[provider] : undefined
    rules = FAMILIES.filter(([family]) => family.test(name))
      .map(([, more]) => more)
      .reduce(combineRules, own ?? COMPATIBLE)
    found.set(identity, rules)
  }
  return rules
}

/**
 * Features of each client of other protocols, shown in the documentation. A mark is a link to the test that covers it;
 * `client-features.test.ts` checks that the test exists under its title.
 */
import { replaceSection, table } from './markdown.ts'

/** Features, by the head of their column. */
export const CLIENT_FEATURES = {
  stream: 'streams',
  join: 'joins a run late',
  restart: 'continues after `kill -9` of the server',
  history: 'sends a history',
  thread: 'continues a thread',
  tools: 'executes its tools',
  changes: 'changes model, instructions or messages between calls of tools',
  reviews: 'decides reviews',
  cancel: 'cancels',
  once: 'begins a failed run once',
  structured: 'parses structured output',
  usage: 'shows usage',
} as const

export type ClientFeature = keyof typeof CLIENT_FEATURES

/** A test, with the titles that its file has. */
export interface CoveringTest {
  readonly file: string
  /** Title of its group, if the file has other tests with this title. */
  readonly group?: string
  readonly title: string
}

/** A client, and the tests that cover its features. */
export interface ClientCoverage {
  readonly name: string
  /** Feature → its test, or the reason why the client cannot have it. A feature without an entry is not tested. */
  readonly features: Readonly<Partial<Record<ClientFeature, CoveringTest | string>>>
}

const CONTROL_API = 'packages/control-api/test'

/** Returns the function that names the tests of a file, or of one of its groups. */
function testsOf(file: string, group?: string): (title: string) => CoveringTest {
  return (title) => ({ file, title, ...(group === undefined ? {} : { group }) })
}

const responses = testsOf(`${CONTROL_API}/responses-client.test.ts`)
const conversations = testsOf(`${CONTROL_API}/conversations-client.test.ts`)
const chat = testsOf(`${CONTROL_API}/openai-chat-clients.test.ts`)
const OTHERS = `${CONTROL_API}/openai-other-clients.test.ts`
const aiSdkProvider = testsOf(OTHERS, 'the provider of the AI SDK over %s')
const langchain = testsOf(OTHERS, 'ChatOpenAI of LangChain over %s')
const agents = testsOf(OTHERS, 'an agent of @openai/agents over %s')
const others = testsOf(OTHERS)
const aiSdk = testsOf(`${CONTROL_API}/ai-sdk-clients.test.ts`)
const agUi = testsOf(`${CONTROL_API}/agui.test.ts`)
const assistantUi = testsOf(`${CONTROL_API}/assistant-ui-browser.test.ts`)
const examples = testsOf('tooling/checks/examples.test.ts')
const responsesCrash = testsOf('apps/server/test/responses-crash.test.ts')
const chatCrash = testsOf('apps/server/test/chat-crash.test.ts')
const agUiCrash = testsOf('apps/server/test/agui-crash.test.ts')
const hooks = testsOf('packages/react/test/stores.test.ts')

const NO_THREAD = 'the client owns its conversation'
const NO_REVIEW = 'the API has no notion of it'

const CHAT_OF_ASSISTANT_UI =
  '[GW-C5][GW-C10] A chat of assistant-ui shows text and a tool call, approves it, and continues after a reload'
const REACT_APP =
  'The page of react-app follows a run, decides its review, lists it, and continues a conversation with React %s'

/** The clients, in the order of the documentation. */
export const CLIENTS: readonly ClientCoverage[] = [
  {
    name: '`openai`, Responses',
    features: {
      stream: responses(
        '[GW-N2] A Responses stream has the events of the specification, which can be joined at any number',
      ),
      join: responses('A background response can be joined late, and cancelled'),
      restart: responsesCrash(
        '[GW-N2] [GW-N10] A client of the Responses API over kill -9 joins its stream after the last event that it received',
      ),
      history: responses(
        '[GW-N9] A response of the Responses API takes the conversation from its items',
      ),
      thread: conversations(
        '[GW-N13][GW-N14] A conversation of the Responses API is a thread, whose next run gets the earlier messages',
      ),
      tools: responses(
        '[GW-N8] A function call of the Responses API pauses the run until its output comes, with previous_response_id',
      ),
      changes: responses(
        '[GW-G5] A function call of the Responses API begins a run with the history when its output changes %s',
      ),
      reviews: responses(
        '[GW-N5] An approval request of the Responses API is a review of a tool call',
      ),
      cancel: responses('A background response can be joined late, and cancelled'),
      structured: responses(
        'A response of the Responses API is parsed by its schema, with the usage and the cached tokens',
      ),
      usage: responses(
        'A response of the Responses API is parsed by its schema, with the usage and the cached tokens',
      ),
    },
  },
  {
    name: '`openai`, chat completions',
    features: {
      stream: chat(
        '[GW-K4] A chat completion streams the answer of an ensemble, with usage at the end',
      ),
      join: chat(
        '[GW-K9] A chat completion cancels the run of a client that leaves, except with an idempotency key',
      ),
      restart: chatCrash(
        '[GW-K9] A client of a chat API over kill -9 gets the completion of its idempotency key',
      ),
      history: chat('[GW-K2] A chat completion answers a conversation with a model, with usage'),
      thread: NO_THREAD,
      tools: chat(
        '[GW-K3][GW-K8] A chat completion calls tools of the client, and continues the run with their results',
      ),
      changes: chat('[GW-G5] A chat completion begins a run for a result with another %s'),
      once: chat(
        '[GW-K6][GW-K11] A chat completion answers a failed run as an error that clients do not repeat',
      ),
      reviews: NO_REVIEW,
      cancel: chat(
        '[GW-K9] A chat completion cancels the run of a client that leaves, except with an idempotency key',
      ),
      structured: chat('[GW-K4] A chat completion parses structured output'),
      usage: chat('[GW-K2] A chat completion answers a conversation with a model, with usage'),
    },
  },
  {
    name: '`@ai-sdk/openai`, both APIs',
    features: {
      stream: aiSdkProvider(
        'The provider of the AI SDK streams the answer of an ensemble, with its usage',
      ),
      history: aiSdkProvider(
        'The provider of the AI SDK continues a conversation of several messages',
      ),
      tools: aiSdkProvider(
        'The provider of the AI SDK executes the tools that a run calls, and continues the run',
      ),
      once: others('The failed run of %s is begun once'),
      structured: aiSdkProvider('The provider of the AI SDK parses structured output'),
      usage: aiSdkProvider(
        'The provider of the AI SDK streams the answer of an ensemble, with its usage',
      ),
      reviews: NO_REVIEW,
    },
  },
  {
    name: '`@langchain/openai`, both APIs',
    features: {
      stream: langchain('ChatOpenAI of LangChain streams the answer of a model'),
      history: langchain('ChatOpenAI of LangChain continues a conversation of several messages'),
      tools: langchain(
        'ChatOpenAI of LangChain executes the tools that a run calls, and continues the run',
      ),
      once: others('The failed run of %s is begun once'),
      structured: langchain('ChatOpenAI of LangChain parses structured output'),
      usage: langchain('ChatOpenAI of LangChain gets the answer of an ensemble'),
      reviews: NO_REVIEW,
    },
  },
  {
    name: '`@openai/agents`, both APIs',
    features: {
      stream: agents(
        'An agent of @openai/agents streams the answer of an ensemble, with its usage',
      ),
      history: agents('An agent of @openai/agents continues a conversation of several messages'),
      thread: others('An agent of @openai/agents continues a thread by its conversation'),
      tools: agents('An agent of @openai/agents calls its tools and answers with the model %s'),
      changes: agents(
        '[GW-G5] An agent of @openai/agents hands off to an agent with another model',
      ),
      structured: agents('An agent of @openai/agents parses structured output'),
      usage: agents('An agent of @openai/agents streams the answer of an ensemble, with its usage'),
    },
  },
  {
    name: '`useChat` of the AI SDK',
    features: {
      stream: aiSdk(
        '[GW-C1] A chat of the AI SDK streams the answer of an ensemble with the usage',
      ),
      join: examples(
        'The page of chat-page asks for approval, and joins its answer again when it is reloaded while it is streamed',
      ),
      restart: chatCrash(
        '[GW-C1] A client of a chat API over kill -9 joins its message again with useChat, with each tool call once',
      ),
      history: aiSdk(
        '[GW-C9] A chat of the AI SDK sends the conversation and its instructions to a model',
      ),
      thread: NO_THREAD,
      tools: aiSdk(
        '[GW-C5][GW-C10] A chat of the AI SDK executes tools of the client, and sends results and errors',
      ),
      changes: aiSdk(
        '[GW-G5] A chat of the AI SDK begins a run when a result arrives with other instructions',
      ),
      reviews: examples(
        'The page of chat-page asks for approval, and joins its answer again when it is reloaded while it is streamed',
      ),
      cancel: examples('The page of chat-page cancels the run with its button'),
      structured: NO_REVIEW,
      usage: aiSdk('[GW-C1] A chat of the AI SDK streams the answer of an ensemble with the usage'),
    },
  },
  {
    name: '`@assistant-ui/react`',
    features: {
      stream: assistantUi(CHAT_OF_ASSISTANT_UI),
      join: assistantUi(CHAT_OF_ASSISTANT_UI),
      tools: aiSdk(
        'A chat of the AI SDK answers the transport of assistant-ui, with its tools and its system message',
      ),
      reviews: assistantUi(CHAT_OF_ASSISTANT_UI),
      thread: NO_THREAD,
      structured: NO_REVIEW,
    },
  },
  {
    name: '`@ag-ui/client`',
    features: {
      stream: agUi(
        '[GW-Y6] [GW-Y10] A client of AG-UI reads a run with its text, its result and its usage',
      ),
      join: agUi(
        '[GW-Y11] [GW-Y15] [GW-Y16] A lost AG-UI connection does not end a run, which the same request joins without repeated text',
      ),
      restart: agUiCrash(
        '[GW-Y15] A client of AG-UI over kill -9 joins its run again, which has each tool call, its result and its text once',
      ),
      history: agUi(
        '[GW-Y12] [GW-Y13] A client of AG-UI sends the conversation as the history of the next run',
      ),
      thread: NO_THREAD,
      tools: agUi(
        '[GW-Y20] A client tool over AG-UI is called by the run, which continues with its result',
      ),
      reviews: agUi(
        '[GW-Y3] [GW-Y5] An AG-UI interrupt asks for the approval of a tool, and the next run has its result',
      ),
      cancel: agUi('[GW-Y16] A lost AG-UI connection cancels the run if the address requests it'),
      structured: NO_REVIEW,
      usage: agUi(
        '[GW-Y6] [GW-Y10] A client of AG-UI reads a run with its text, its result and its usage',
      ),
    },
  },
  {
    name: 'hooks of `@tutti/react`',
    features: {
      stream: examples(REACT_APP),
      join: hooks('The store of a run follows a run to its end, and continues where it was closed'),
      thread: examples(REACT_APP),
      reviews: examples(REACT_APP),
    },
  },
]

/** Returns the page with the matrix of clients and features. @throws {Error} when the page has no section for it. */
export function replaceClientFeatures(page: string): string {
  const features = Object.keys(CLIENT_FEATURES).filter(isFeature)
  const rows = CLIENTS.map((client) => [
    client.name,
    ...features.map((feature) => toCell(client.features[feature])),
  ])
  const heads = ['client', ...features.map((feature) => CLIENT_FEATURES[feature])]
  return replaceSection(page, 'tooling/reference/client-features.ts', table(heads, rows))
}

function isFeature(name: string): name is ClientFeature {
  return Object.hasOwn(CLIENT_FEATURES, name)
}

function toCell(covered: CoveringTest | string | undefined): string {
  if (covered === undefined) return ''
  return typeof covered === 'string' ? '–' : `[✓](../../${covered.file})`
}

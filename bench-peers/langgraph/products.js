/** LangGraph in the benchmark `server`. */
import { ANSWER, PROMPT } from '../../tooling/bench/lib/story.ts'

const CLI = 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs'
const OPTIONS = ['--no-browser', '--no-reload', '--host', '127.0.0.1']

/** Limit of active runs. */
const MAX_RUNS = '50'

// The update with the whole answer is the last of the run; the stream of the development server ends half a second
// later.
const stream = {
  first: 'data:',
  result: `"content":"${ANSWER}"`,
  proof: ['event: updates', '"content":"2 tea"'],
}

const library = {
  ...stream,
  readyPath: '/',
  submit: () => ({ method: 'POST', path: '/', body: { input: PROMPT } }),
}

export const products = [
  {
    ...stream,
    name: 'LangGraph dev',
    kind: 'peer in memory',
    storage: 'in memory, to a file now and then',
    program: (port) => [CLI, 'dev', ...OPTIONS, '--port', `${port}`, '-n', MAX_RUNS],
    // This is its development server; its production server is a different program.
    env: { NODE_ENV: 'development' },
    readyPath: '/ok',
    submit: () => ({
      method: 'POST',
      path: '/runs/stream',
      body: {
        assistant_id: 'buyer',
        input: { messages: [{ role: 'user', content: PROMPT }] },
        stream_mode: ['updates', 'messages-tuple'],
      },
    }),
  },
  { ...library, name: 'LangGraph on node:http', kind: 'peer in memory', storage: 'nothing' },
  {
    ...library,
    name: 'LangGraph on node:http, durable',
    kind: 'durable peer',
    storage: 'checkpoints, in SQLite',
  },
]

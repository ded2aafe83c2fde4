/**
 * Three external agents without a model, on this machine. They accept tasks over HTTP at `/tasks/send` and
 * `/tasks/sendSubscribe`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

import type { AddressInfo } from 'node:net'

/** The running agents. Disposing them stops them. */
export interface Agents extends AsyncDisposable {
  /** Address of the agents; each is below it, under its name. */
  readonly url: string
}

/** Starts the agents on a free port. */
export async function startAgents(): Promise<Agents> {
  let drafts = 0
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The caller requests an agent card first. For an agent without a card it uses this protocol.
    if (request.method !== 'POST') {
      response.writeHead(404).end()
      return
    }
    const text = readInput(await json(request))
    switch (request.url) {
      case '/classifier/tasks/send':
        send(response, {
          status: 'completed',
          output: /\btides?\b/i.test(text) ? 'science' : 'other',
        })
        return
      case '/researcher/tasks/sendSubscribe':
        await research(response, text)
        return
      case '/editor/tasks/send':
        drafts += 1
        send(response, edit(text, drafts))
        return
      default:
        response.writeHead(404).end()
    }
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // NOTE: a server that listens on a host has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Reads the input of an agent: JSON in the first part of the message. */
function readInput(body: unknown): string {
  // NOTE: these agents are called only by this example, which sends this format.
  const { params } = body as { params: { message: { parts: readonly [{ text: string }] } } }
  return String(JSON.parse(params.message.parts[0].text))
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Streams its findings with their cost, one per line. */
async function research(response: ServerResponse, topic: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  const findings = [
    'The moon pulls the sea',
    'The sun does too',
    'Twice a month they pull together',
  ]
  for (const [index, finding] of findings.entries()) {
    response.write(`${JSON.stringify({ id: 'task-1', finding, cost_usd: 0.02 })}\n`)
    await new Promise((resolve) => setTimeout(resolve, 10))
    if (index < findings.length - 1) continue
    const output = `${topic}: ${findings.join('. ')}.`
    response.end(`${JSON.stringify({ id: 'task-1', status: 'completed', output })}\n`)
  }
}

/** Edits the text in two drafts, and completes in the third call. */
function edit(text: string, draft: number): object {
  const output =
    draft === 1 ? text.replace('science: ', 'Tides. ') : text.replace(' too.', ' as well.')
  return { status: draft < 3 ? 'working' : 'completed', output }
}

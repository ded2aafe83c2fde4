import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

import { expect, it } from 'vitest'

import { reviewedTask } from './reviewed-ensembles.ts'
import { openServer } from './open-server.ts'

/** A result of the v1 SDK. */
interface Result {
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent?: { readonly runId: string }
}

/** The parts of a v1 client that the test uses. */
interface V1Client {
  connect(transport: object): Promise<void>
  close(): Promise<void>
  listTools(): Promise<{ tools: readonly { name: string }[] }>
  callTool(params: object, schema: undefined, options: object): Promise<Result>
  setRequestHandler(schema: object, handler: () => object): void
}

type Made<T> = new (...given: readonly unknown[]) => T

/** The v1 SDK is a dependency of the conformance suite. */
async function v1() {
  const require = createRequire(import.meta.url)
  const { resolve } = createRequire(
    require.resolve('@modelcontextprotocol/conformance/package.json'),
  )
  const load = (path: string): Promise<unknown> =>
    import(pathToFileURL(resolve(`@modelcontextprotocol/sdk/${path}`)).href)
  // NOTE: these are exports of the v1 SDK, whose types are not installed.
  return {
    ...((await load('client/index.js')) as { Client: Made<V1Client> }),
    ...((await load('client/streamableHttp.js')) as {
      StreamableHTTPClientTransport: Made<object>
    }),
    ...((await load('types.js')) as { ElicitRequestSchema: object }),
  }
}

async function connect(url: string, capabilities: object = {}) {
  const { Client, StreamableHTTPClientTransport, ElicitRequestSchema } = await v1()
  const client = new Client({ name: 'v1', version: '1' }, { capabilities })
  if ('elicitation' in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { decision: 'EDIT', text: 'Do re mi' },
    }))
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  return client
}

it('A client of the v1 SDK lists, calls, gets progress and decides a review', async () => {
  await using api = await openServer({ ensembles: [reviewedTask()] })
  const client = await connect(api.url, { elicitation: {} })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['wait', 'choir'])
  const heard: number[] = []
  const params = { name: 'choir', arguments: { song: 'Ave' } }
  const result = await client.callTool(params, undefined, {
    onprogress: ({ progress }: { progress: number }) => heard.push(progress),
  })
  expect(result).toMatchObject({
    content: [{ text: 'Do re mi' }],
    structuredContent: { status: 'COMPLETED' },
  })
  expect(heard.length).toBeGreaterThan(0)
  await client.close()
})

it('A client of the v1 SDK cancels the run by abandoning its call', async () => {
  await using api = await openServer()
  const client = await connect(api.url)
  const patience = new AbortController()
  const begun = Promise.withResolvers<void>()
  const params = { name: 'band', arguments: { composer: 'Bach', hall: 'A' } }
  const call = client.callTool(params, undefined, {
    signal: patience.signal,
    onprogress: () => begun.resolve(),
  })
  await begun.promise
  patience.abort()
  await expect(call).rejects.toThrow('abort')
  const [run] = (await api.runs.list({ limit: 1, offset: 0 })).runs
  const ends: string[] = []
  for await (const events of api.runs.follow({ runId: run?.runId ?? '', from: 0 })) {
    for (const event of events) if (event.type === 'run_result') ends.push(event.status)
  }
  expect(ends).toEqual(['CANCELLED'])
  await client.close()
})

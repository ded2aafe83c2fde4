import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { ServerProcess, temporaryDirectory } from './server-process.ts'

const CONFIG = fileURLToPath(new URL('./fixtures/duet.config.ts', import.meta.url))

describe('a server with a config file', () => {
  it('A server with a config file serves the ensembles of the file', async () => {
    using data = temporaryDirectory()
    await using server = await ServerProcess.start({
      TUTTI_DATA_DIR: data.path,
      TUTTI_CONFIG: CONFIG,
    })
    expect(server.output).toBe(`Tutti ready on ${server.url}\n`)
    const client = server.client()
    const capabilities = await client.capabilities()
    expect(capabilities.ensembles.map(({ name }) => name)).toEqual(['duet'])
    expect(capabilities.models).toEqual([{ alias: 'house', provider: 'scripted' }])
    expect(capabilities.tools.map(({ name }) => name)).toEqual(['metronome', 'tuner'])
    const { runId } = await client.runs.submit({ inputs: { piece: 'a fugue' } })
    expect(await client.runs.result(runId)).toMatchObject({
      status: 'COMPLETED',
      outputs: [{ taskName: 'violin', output: 'Played a fugue at 72' }],
    })
  })

  it('A server with a config file rejects an unusable file, and names it', async () => {
    using data = temporaryDirectory()
    const path = `${data.path}/none.config.ts`
    const { code, errors } = await ServerProcess.refused({ TUTTI_CONFIG: path })
    expect([code, errors]).toEqual([1, expect.stringContaining(path)])
  })
})

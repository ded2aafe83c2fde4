import { describe, expect, it } from 'vitest'

import { connectClient, MODES } from './mcp-client.ts'
import { singer } from './a2a-agent.ts'
import { openServer } from './open-server.ts'

describe.each(MODES)('to an MCP client of mode %s', (mode) => {
  it('The MCP server exposes runs as JSON resources, and their outputs as text', async () => {
    await using api = await openServer({ ensembles: [singer()] })
    await using peer = await connectClient(api, { mode })
    const { structuredContent } = await peer.call('singer', { song: 'Ode' })
    const { runId } = structuredContent as { runId: string }
    const { resources } = await peer.client.listResources()
    const uri = `tutti://runs/${runId}`
    expect(resources).toMatchObject([{ uri, name: runId, title: 'singer (COMPLETED)' }])
    const detail = await peer.client.readResource({ uri })
    const [{ text = '' } = {}] = detail.contents as { text?: string }[]
    expect(JSON.parse(text)).toMatchObject({ runId, status: 'COMPLETED', inputs: { song: 'Ode' } })
    expect((await peer.client.readResource({ uri: `${uri}/output` })).contents).toMatchObject([
      { mimeType: 'text/plain', text: 'La la la, here comes Ode, la la la' },
    ])
    const { resourceTemplates } = await peer.client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'tutti://runs/{runId}',
      'tutti://runs/{runId}/output',
    ])
  })

  it('The MCP server does not expose the runs of ensembles that are not shared', async () => {
    await using api = await openServer({
      ensembles: [singer(), singer('hidden')],
      shared: { ensembles: ['singer'] },
    })
    const { runId } = await api.runs.submit({ ensemble: 'hidden', inputs: { song: 'Ode' } })
    const other = await api.runs.submit({ ensemble: 'singer', inputs: { song: 'Ode' } })
    await using peer = await connectClient(api, { mode })
    const { resources } = await peer.client.listResources()
    expect(resources.map(({ name }) => name)).toEqual([other.runId])
    for (const uri of [`tutti://runs/${runId}`, `tutti://runs/${runId}/output`]) {
      await expect(peer.client.readResource({ uri })).rejects.toThrow(/Unknown resource|not found/)
    }
  })

  it('The MCP server lists runs on pages, the one that changed last first', async () => {
    await using api = await openServer({ ensembles: [singer()] })
    const run = { ensemble: 'singer', inputs: { song: 'Ode' } }
    for (let count = 0; count < 60; count += 1) await api.runs.submit(run)
    const isOver = async () =>
      (await api.runs.list({ statuses: ['COMPLETED'], limit: 1, offset: 0 })).total
    await expect.poll(isOver, { timeout: 20_000 }).toBe(60)
    await using peer = await connectClient(api, { mode })
    // The client reads all pages, of 50 runs each.
    const { resources } = await peer.client.listResources()
    const names = resources.map(({ name }) => name)
    const changed = await api.runs.listByChange({ ensembles: ['singer'], limit: 60 })
    expect(names).toEqual(changed.runs.map(({ runId }) => runId))
    expect(new Set(names).size).toBe(60)
    await expect(peer.client.listResources({ cursor: '50' })).rejects.toThrow('Unknown cursor')
  })

  it.each(['tutti://runs/none', 'tutti://runs/%ff', 'file:///etc/passwd', 'tutti://runs/'])(
    'The MCP server reports that the resource %s does not exist',
    async (uri) => {
      await using api = await openServer({ ensembles: [singer()] })
      await using peer = await connectClient(api, { mode })
      await expect(peer.client.readResource({ uri })).rejects.toThrow(/Unknown resource|not found/)
    },
  )

  it('The MCP server exposes ensembles as prompts with their template variables', async () => {
    await using api = await openServer({ ensembles: [singer()] })
    await using peer = await connectClient(api, { mode })
    const { prompts } = await peer.client.listPrompts()
    expect(prompts).toMatchObject([
      { name: 'singer', arguments: [{ name: 'song', required: true }] },
    ])
    const { messages } = await peer.client.getPrompt({
      name: 'singer',
      arguments: { song: 'Ode' },
    })
    const text = 'Call the tool "singer" with the arguments {"song":"Ode"}, and show me its output.'
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text } }])
    await expect(peer.client.getPrompt({ name: 'singer' })).rejects.toThrow(
      'Missing arguments: song',
    )
    await expect(peer.client.getPrompt({ name: 'choir' })).rejects.toThrow("Unknown prompt 'choir'")
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agentTool } from '@tutti/agent-tool'
import { agentEnsemble } from '@tutti/compat-agentensemble'
import { peerConnector } from '@tutti/compat-agentensemble/connector'
import { serveControlApi } from '@tutti/control-api'
import { runTool, toolCatalog } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'

// A server that offers the ensemble "poet"
const model = scriptedModel(['O sea, the evening is long'])
const poet = ensemble({
  name: 'poet',
  tasks: [task({ description: 'A line about {input}' })],
  model,
})
const folder = mkdtempSync(join(tmpdir(), 'tutti-poet-'))
const runs = createRunService(await sqliteRunStorage(folder), [poet])
const parts = { runs, tools: toolCatalog([]), models: modelCatalog({}) }
const server = await serveControlApi({ ...parts, extensions: [agentEnsemble()] }, { port: 0 })
await runs.start()

// A tool that calls it as a peer
const poem = agentTool({
  name: 'poem',
  description: 'Writes a line',
  agent: `${server.url.replace('http', 'ws')}#task:poet`,
  connectors: [peerConnector],
})
const call = { id: 'call-1', name: 'poem', arguments: '{"input":"the sea"}' }
const { result } = await runTool(poem, call)
console.log(result.output)

await poem.close()
await server.close()
await runs.close({ drainTimeoutMs: 0 })
rmSync(folder, { recursive: true })
// O sea, the evening is long

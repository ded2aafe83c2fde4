import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agentTool } from '@tutti/agent-tool'
import { jamJet } from '@tutti/compat-jamjet'
import { tasksConnector } from '@tutti/compat-jamjet/connector'
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
const server = await serveControlApi({ ...parts, extensions: [jamJet()] }, { port: 0 })
await runs.start()

// A tool that calls it over the `/tasks` wire
const poem = agentTool({
  name: 'poem',
  description: 'Writes a line',
  agent: `${server.url}/agents/poet`,
  connectors: [tasksConnector],
  wire: 'tasks', // without it, an agent with a card is called over A2A
})
const call = { id: 'call-1', name: 'poem', arguments: '{"input":"the sea"}' }
const { result } = await runTool(poem, call)
console.log(result.output)

await poem.close()
await server.close()
await runs.close({ drainTimeoutMs: 0 })
rmSync(folder, { recursive: true })
// O sea, the evening is long

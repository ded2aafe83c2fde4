/**
 * A Mastra server with one agent, and a workflow of that agent, started as what `mastra build` writes starts it. It
 * stores in memory; with IS_DURABLE in a libSQL file, as a new project of Mastra does.
 */
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { createNodeServer } from '@mastra/deployer/server'
import { LibSQLStore } from '@mastra/libsql'
import { z } from 'zod'

import { order, TOOL } from '../../tooling/bench/lib/story.ts'
import { orderSchema } from '../order-schema.js'
import { scriptedModel } from '../scripted-model.js'

const tool = createTool({
  id: TOOL.name,
  description: TOOL.description,
  inputSchema: orderSchema(z),
  execute: async (input) => order(input),
})

const agent = new Agent({
  id: 'buyer',
  name: 'buyer',
  instructions: 'You are a buyer.',
  model: scriptedModel(),
  tools: { [TOOL.name]: tool },
})

const buy = createWorkflow({
  id: 'buy',
  inputSchema: z.object({ prompt: z.string() }),
  outputSchema: z.object({ text: z.string() }),
})
  .then(createStep(agent))
  .commit()

const { DATA_DIR, IS_DURABLE } = process.env
const storage =
  IS_DURABLE === undefined
    ? {}
    : { storage: new LibSQLStore({ id: 'runs', url: `file:${DATA_DIR}/mastra.db` }) }
const mastra = new Mastra({
  agents: { buyer: agent },
  workflows: { buy },
  ...storage,
  server: { host: '127.0.0.1', port: Number(process.env.PORT) },
})

await createNodeServer(mastra, { tools: {} })

/**
 * A Mastra server with one agent, started as what `mastra build` writes starts it, with the storage that
 * a new project of Mastra has: a libSQL file.
 */
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { createNodeServer } from '@mastra/deployer/server'
import { LibSQLStore } from '@mastra/libsql'
import { z } from 'zod'

import { scriptedModel } from './ai-sdk-model.js'
import { order, orderSchema, TOOL } from './story.js'

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

const mastra = new Mastra({
  agents: { buyer: agent },
  storage: new LibSQLStore({ id: 'runs', url: `file:${process.env.DATA_DIR}/mastra.db` }),
  server: { host: '127.0.0.1', port: Number(process.env.PORT) },
})

await createNodeServer(mastra, { tools: {} })

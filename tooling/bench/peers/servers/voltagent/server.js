/** A VoltAgent server with one agent, with the storage it has by itself: memory of the process. */
import { Agent, createTool, VoltAgent } from '@voltagent/core'
import { honoServer } from '@voltagent/server-hono'
import { z } from 'zod'

import { scriptedModel } from './ai-sdk-model.js'
import { order, orderSchema, TOOL } from './story.js'

const tool = createTool({
  ...TOOL,
  parameters: orderSchema(z),
  execute: async (input) => order(input),
})

const agent = new Agent({
  name: 'buyer',
  instructions: 'You are a buyer.',
  model: scriptedModel(),
  tools: [tool],
})

/** It listens from here on. */
export const server = new VoltAgent({
  agents: { buyer: agent },
  server: honoServer({
    port: Number(process.env.PORT),
    hostname: '127.0.0.1',
    enableSwaggerUI: false,
  }),
})

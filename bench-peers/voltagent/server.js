/**
 * A VoltAgent server with one agent, with the storage it has by itself: memory of the process. With IS_DURABLE it
 * stores conversations in a libSQL file.
 */
import { Agent, createTool, Memory, VoltAgent } from '@voltagent/core'
import { LibSQLMemoryAdapter } from '@voltagent/libsql'
import { honoServer } from '@voltagent/server-hono'
import { z } from 'zod'

import { order, TOOL } from '../../tooling/bench/lib/story.ts'
import { orderSchema } from '../order-schema.js'
import { scriptedModel } from '../scripted-model.js'

const tool = createTool({
  ...TOOL,
  parameters: orderSchema(z),
  execute: async (input) => order(input),
})

const { DATA_DIR, IS_DURABLE } = process.env
const memory =
  IS_DURABLE === undefined
    ? {}
    : {
        memory: new Memory({
          storage: new LibSQLMemoryAdapter({ url: `file:${DATA_DIR}/volt.db` }),
        }),
      }
const agent = new Agent({
  name: 'buyer',
  instructions: 'You are a buyer.',
  model: scriptedModel(),
  tools: [tool],
  ...memory,
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

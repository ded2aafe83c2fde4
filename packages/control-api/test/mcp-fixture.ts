/** Serves the tools that the MCP conformance suite calls by name, where Tutti supports them. */
import { defineTool, toolCatalog, ToolResult, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

import { openServer, type TestServer } from './open-server.ts'

/** Schema that the suite expects unchanged. */
const NESTED = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

/** Ensembles whose only task waits for a person. */
const REVIEWED = [
  'test_streaming_elicitation',
  'test_input_required_result_elicitation',
  'test_input_required_result_tampered_state',
]

function says(name: string, output: string) {
  return defineTool({ name, description: output, input: Type.Object({}), execute: () => output })
}

/** Starts the server. */
export function conformanceServer(): Promise<TestServer> {
  const model = scriptedModel(() => 'Done')
  const reviewed = task({ name: 'ask', description: 'Ask', review: { prompt: 'Go on?' } })
  const step = (name: string) => task({ name, description: `Do ${name}` })
  return openServer({
    tools: toolCatalog([
      says('test_simple_text', 'This is a simple text response for testing.'),
      says('test_logging_tool', 'Nothing is logged to clients'),
      defineTool({
        name: 'test_error_handling',
        description: 'Fails',
        input: Type.Object({}),
        execute: () => ToolResult.failure('This tool intentionally returns an error for testing'),
      }),
      defineTool({
        name: 'json_schema_2020_12_tool',
        description: 'Has a schema with everything',
        input: NESTED,
        execute: () => 'Fits',
      }),
    ]),
    ensembles: [
      ensemble({
        name: 'test_tool_with_progress',
        tasks: [step('first'), step('second'), step('third')],
        model,
      }),
      ...REVIEWED.map((name) => ensemble({ name, tasks: [reviewed], model })),
    ],
  })
}

import { createServer } from 'node:http'
import { runTool, toModelText, Type } from '@tutti/core'
import { httpTool, openApiTools } from '../src/index.ts'

// A service to call.
const service = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ asked: `${request.method} ${request.url}` }))
})
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
const { port } = Object(service.address())

// One operation, written by hand: the field `id` fills its placeholder, the others are the query.
const user = httpTool({
  name: 'get_user',
  description: 'Gets a user',
  method: 'GET',
  url: `http://127.0.0.1:${port}/users/{id}`,
  input: Type.Object({ id: Type.String(), fields: Type.Optional(Type.Array(Type.String())) }),
  output: Type.Object({ asked: Type.String() }),
  headers: () => ({ authorization: 'Bearer secret' }),
})
const call = { id: 'a', name: 'get_user', arguments: '{"id":"a/b","fields":["name","age"]}' }
console.log(toModelText((await runTool(user, call)).result))

// All operations of a document, each a typed tool.
const api = openApiTools({
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  servers: [{ url: `http://127.0.0.1:${port}` }],
  paths: {
    '/notes': {
      get: {
        operationId: 'list-notes',
        summary: 'Lists notes',
        parameters: [{ name: 'page', in: 'query', schema: { type: 'integer', minimum: 1 } }],
        responses: { 200: { description: 'The notes' } },
      },
    },
  },
})
for (const tool of api.tools) {
  const { result } = await runTool(tool, { id: 'b', name: tool.name, arguments: '{"page":0}' })
  console.log(tool.name, toModelText(result))
}
await Promise.all([user.close(), api.close()])
service.close()
// {"asked":"GET /users/a%2Fb?fields=name&fields=age"}
// list-notes Error: Invalid input for "list-notes": /page must be >= 1, got 0

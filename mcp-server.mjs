import { createInterface } from 'node:readline'
const send = (message) => process.stdout.write(JSON.stringify(message) + '\n')
createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line)
  const reply = (result) => send({ jsonrpc: '2.0', id: m.id, result })
  if (m.method === 'initialize')
    return reply({
      protocolVersion: m.params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    })
  if (m.method === 'tools/list') reply({ tools: [{ name: 'a', inputSchema: { type: 'object' } }] })
  if (m.method === 'tools/call') {
    process.stdout.write(
      '{"jsonrpc":"2.0","id":' +
        m.id +
        ',"result":{"content":[],"structuredContent":{"id":1e400}}}\n',
    )
  }
})

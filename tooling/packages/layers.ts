/** Layers inside packages, apps and `tooling`, and the rules that enforce their order. */
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Source folder → its layers, lowest first: its subfolders, and the files that these import. A layer imports only those
 * before it, type-only imports included. All other files, such as the entry point, are above the layers.
 */
const LAYERS: Readonly<Record<string, string>> = {
  'packages/agent-call/src': '',
  'packages/agent-tool/src': 'usage-metadata.ts answer-schema.ts http a2a mcp',
  'packages/builtin-tools/src': 'calculator datetime files json-parser web',
  'packages/client/src':
    'options.ts ended-run.ts errors.ts reconnect.ts call-scope.ts http events commands.ts runs socket',
  'packages/compat-agentensemble/src': 'connector dialect peer trace',
  'packages/compat-jamjet/src': 'connector server',
  'packages/control-api/src':
    'audit metrics secrets auth unread-data.ts options.ts http runs steering webhooks repeat-id.ts sockets dashboard documents workspace routes',
  'packages/core/src':
    'clock.ts logger.ts limit-text.ts errors.ts is-promise.ts known-options.ts limiter.ts input-failure.ts json-form.ts metrics.ts trace-context.ts digest tool input definition call',
  'packages/create-tutti/src': '',
  'packages/ensemble/src':
    'work model usage output memory definition ports scope reviews hierarchy steering agent run adapters',
  'packages/gateway/src':
    'caller.ts http gateway-options.ts duration-ms.ts runs tools service openai a2a mcp ai-sdk ag-ui',
  'packages/gateway/src/openai':
    'errors.ts ignored-fields.ts neutral-value.ts item-page.ts request-fields.ts chat conversations responses',
  'packages/langchain/src':
    'json.ts finish-reason.ts token-counts.ts tool-call-fragments.ts wire content tools providers.ts rules output testing',
  'packages/mcp/src': 'exact-messages.ts incoming',
  'packages/nats/src': '',
  'packages/net/src': 'http process ws',
  'packages/pipeline/src': 'schema',
  'packages/protocol/src':
    'error-codes.ts limits.ts static.ts amounts.ts json-pointer.ts schema-node.ts bounded-map.ts schema-engine.ts schemas commands.ts messages check compiled-check.ts problems decode.ts usage-sum.ts run-usage.ts run-state projection repeats',
  'packages/react/src': '',
  'packages/remote-tools/src': 'schema http mcp process openapi',
  'packages/remote-tools/src/process':
    'log-debug.ts worker-options.ts options.ts read-answer.ts run-once.ts worker',
  'packages/runs/src':
    'load domain log ports commit feed request settings threads lifecycle lineage schedules service testing stores',
  'packages/runs/src/stores/postgres':
    'database schema notifications rows log queue runs tables run-storage.ts index.ts testing',
  'packages/runs/src/stores/shared':
    'column-reader.ts schema read-fields.ts new-secret.ts notification-hub.ts query-numbers.ts store-metrics.ts search-text.ts record-fields.ts read-records.ts log runs tables',
  'packages/runs/src/stores/sqlite':
    'schema database rows log queue runs tables open-store.ts thread',
  'packages/telemetry/src': '',
  'packages/testing/src': '',
  'apps/dashboard/src': 'lib ui api features app',
  'apps/server/src':
    'program-version.ts prices.ts environment terminal log config sample checks start cli',
  'apps/server/src/cli':
    'exit-codes.ts option-values.ts command-context.ts command-error.ts server-options.ts target.ts subcommands.ts submit live builds deliver schedules completion dev doctor review runs tools commands',
  tooling:
    'browser test-kit net packages postgres nats bench chaos reference test docs site release tasks checks scale fuzz hostile mutants last-release build container',
  'tooling/fuzz': 'lib targets',
}

/** Rule of dependency-cruiser that forbids imports. */
export interface LayerRule {
  readonly name: string
  readonly comment: string
  readonly severity: 'error'
  readonly from: { readonly path: string; readonly pathNot: readonly string[] }
  readonly to: { readonly path: string; readonly pathNot: readonly string[] }
}

/**
 * Returns the rules for all layers. Files that match one of the patterns `exempt`, such as tests, may import everything.
 */
export function listLayerRules(exempt: readonly string[]): readonly LayerRule[] {
  return Object.entries(LAYERS).flatMap(([folder, layers]) =>
    orderRules(folder, splitLayers(layers), exempt),
  )
}

/** Returns the rules that forbid each layer of a folder to import later ones and the other files of the folder. */
export function orderRules(
  folder: string,
  layers: readonly string[],
  exempt: readonly string[],
): readonly LayerRule[] {
  const patterns = layers.map((layer) => toPattern(`${folder}/${layer}`))
  return patterns.map((path, index) => ({
    name: `layers-${folder}/${layers[index]}`,
    comment: `${layers.join(' < ')}: a layer of ${folder} imports only those before it`,
    severity: 'error',
    from: { path, pathNot: exempt },
    to: { path: `^${folder}/`, pathNot: patterns.slice(0, index + 1) },
  }))
}

function toPattern(path: string): string {
  return `^${path.replaceAll('.', String.raw`\.`)}${/\.\w+$/.test(path) ? '$' : '/'}`
}

/** Returns the problems of the table: folders without an entry, and layers that do not exist. */
export function findLayerProblems(
  root: string,
  table: Readonly<Record<string, string>> = LAYERS,
): readonly string[] {
  const folders = ['tooling', ...globSync('{packages,apps}/*/src', { cwd: root })]
  const missing = folders
    .map((folder) => folder.replaceAll('\\', '/'))
    .filter((folder) => table[folder] === undefined)
    .map((folder) => `${folder} has no entry in LAYERS`)
  const wrong = Object.entries(table).flatMap(([folder, text]) => {
    const layers = splitLayers(text)
    return [
      ...listSubfolders(join(root, folder))
        .filter((name) => !layers.includes(name))
        .map((name) => `${folder}/${name} is not among the layers of ${folder}`),
      ...layers
        .filter((name) => !existsSync(join(root, folder, name)))
        .map((name) => `${folder}/${name} is a layer that does not exist`),
    ]
  })
  return [...missing, ...wrong]
}

/** Lists the subfolders with code; fixtures have no layer. */
function listSubfolders(folder: string): readonly string[] {
  const files = globSync('*/**/*.{ts,tsx}', { cwd: folder, exclude: ['fixtures/**'] })
  return [...new Set(files.map((file) => file.replace(/[\\/].*/, '')))]
}

function splitLayers(text: string): readonly string[] {
  return text.split(' ').filter((layer) => layer !== '')
}

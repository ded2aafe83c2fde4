import { findLayerProblems, listLayerRules } from './tooling/packages/layers.ts'

/**
 * The layers of the workspace, as a rule that CI enforces. `MAY_IMPORT` is the picture: a package may
 * import those named and nothing else of ours. ARCHITECTURE.md draws it. `tooling/packages/layers.ts`
 * has the layers inside each package.
 */
const MAY_IMPORT = {
  protocol: [],
  core: ['protocol'],
  'agent-call': ['core', 'protocol'],
  pipeline: ['core'],
  net: ['core'],
  mcp: ['core', 'net'],
  'builtin-tools': ['core', 'net'],
  'remote-tools': ['core', 'mcp', 'net'],
  'agent-tool': ['agent-call', 'core', 'mcp', 'net', 'protocol'],
  ensemble: ['agent-call', 'core', 'protocol'],
  testing: ['core', 'ensemble'],
  langchain: ['core', 'ensemble', 'net'],
  runs: ['core', 'ensemble', 'protocol'],
  nats: ['core', 'runs'],
  gateway: ['core', 'ensemble', 'protocol', 'runs'],
  'control-api': ['core', 'ensemble', 'gateway', 'net', 'protocol', 'runs'],
  'compat-agentensemble': [
    'agent-call',
    'agent-tool',
    'core',
    'ensemble',
    'gateway',
    'net',
    'protocol',
    'runs',
  ],
  'compat-jamjet': [
    'agent-call',
    'agent-tool',
    'core',
    'ensemble',
    'gateway',
    'net',
    'protocol',
    'runs',
  ],
  client: ['protocol'],
  react: ['client', 'protocol'],
  telemetry: ['core', 'protocol'],
  'create-tutti': [],
}

/** Packages that must run anywhere: no Node built-in. */
const NEUTRAL = [
  'protocol',
  'core',
  'agent-call',
  'pipeline',
  'ensemble',
  'client',
  'react',
  'testing',
]

/** Files that decide and never act: no driver, no port, nothing outside. */
const PURE = [
  '^packages/ensemble/src/definition/(plan|schedule|template|inputs)\\.ts$',
  '^packages/ensemble/src/usage/tokens\\.ts$',
  '^packages/ensemble/src/agent/(step|prompt)\\.ts$',
  '^packages/runs/src/log/changes\\.ts$',
]

const TESTS = ['\\.test\\.ts$', '\\.test-d\\.ts$', '/test/', '\\.examples\\.ts$']

const layers = Object.entries(MAY_IMPORT).map(([name, allowed]) => ({
  name: `layer-${name}`,
  comment: `@tutti/${name} may import ${allowed.join(', ') || 'no other package'}; see the table in ARCHITECTURE.md`,
  severity: 'error',
  from: { path: `^packages/${name}/src/`, pathNot: [...TESTS, '/testing/'] },
  to: {
    path: '^(packages|apps|tooling)/',
    pathNot: [name, ...allowed].map((other) => `^packages/${other}/`),
  },
}))

const layerProblems = findLayerProblems(import.meta.dirname)
if (layerProblems.length > 0) {
  throw new Error(`Layers are incomplete (tooling/packages/layers.ts): ${layerProblems.join('; ')}`)
}

/** Rules of the stores of `runs`, in addition to the order of its folders. */
const storeRules = [
  {
    name: 'runs-stores',
    comment: 'A store implements the ports: it knows nothing of the code that uses them',
    severity: 'error',
    from: { path: '^packages/runs/src/stores/', pathNot: [...TESTS, '/testing/'] },
    to: {
      path: '^packages/runs/src/',
      pathNot: '^packages/runs/src/(load|domain|log|ports|stores)/',
    },
  },
  {
    name: 'runs-stores-apart',
    comment: 'What both stores use is in stores/shared',
    severity: 'error',
    from: { path: '^packages/runs/src/stores/([^/]+)/', pathNot: [...TESTS, '/testing/'] },
    to: {
      path: '^packages/runs/src/stores/',
      pathNot: '^packages/runs/src/stores/($1|shared)/',
    },
  },
]

export default {
  forbidden: [
    ...layers,
    ...listLayerRules(TESTS),
    ...storeRules,
    {
      name: 'layer-dashboard',
      comment:
        'The dashboard is a client like any other: it knows the wire and nothing of the server',
      severity: 'error',
      from: { path: '^apps/dashboard/src/' },
      to: {
        path: '^(packages|apps|tooling)/',
        pathNot: ['^apps/dashboard/src/', '^packages/(protocol|client|react)/'],
      },
    },
    {
      name: 'dashboard-features-apart',
      comment: 'A feature can be read, changed and removed alone; app/ puts them together',
      severity: 'error',
      from: { path: '^apps/dashboard/src/features/([^/]+)/' },
      to: { path: '^apps/dashboard/src/features/', pathNot: '^apps/dashboard/src/features/$1/' },
    },
    {
      name: 'no-cycles',
      comment:
        'Files that import each other, types included, cannot be read, tested or changed alone',
      severity: 'error',
      from: { pathNot: TESTS },
      to: { circular: true },
    },
    {
      name: 'public-door-only',
      comment: 'A package is entered by its exports map, never by a path into its sources',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/' },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot: [
          '^packages/$2/',
          '^packages/[^/]+/src/(index|adapter|internal|basics)\\.ts$',
          '^packages/[^/]+/src/(stores/postgres|testing|connector)/index\\.ts$',
        ],
      },
    },
    {
      name: 'neutral-packages',
      comment: 'These packages run in browsers and workers too',
      severity: 'error',
      from: { path: `^packages/(${NEUTRAL.join('|')})/src/`, pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'pure-deciders',
      comment: 'What decides takes values and gives values; drivers act',
      severity: 'error',
      from: { path: PURE },
      to: {
        path: ['/run-[^/]+\\.ts$', '/loop\\.ts$', '/ports/', '/stores/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'no-import-of-tests',
      comment: 'Published code does not import tests or the testing entry points of packages',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/', pathNot: [...TESTS, '/testing/'] },
      to: { path: [...TESTS, '^packages/[^/]+/src/testing/'] },
    },
    {
      name: 'no-tooling-at-run-time',
      comment: 'published code does not import tooling/',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/', pathNot: TESTS },
      to: { path: '^tooling/' },
    },
    {
      name: 'langchain-at-the-edge',
      comment:
        'LangChain is known to one package only, and loaded there when a model is first used',
      severity: 'error',
      from: { path: '^(packages|apps)/', pathNot: ['^packages/langchain/'] },
      to: { path: ['/node_modules/langchain/', '/node_modules/@langchain/'] },
    },
    {
      name: 'langchain-late',
      comment: 'A static import would make everybody pay for LangChain at start',
      severity: 'error',
      from: { path: '^packages/langchain/src/', pathNot: [...TESTS, '/testing/'] },
      to: {
        path: ['/node_modules/langchain/', '/node_modules/@langchain/'],
        dependencyTypesNot: ['type-only'],
        dynamic: false,
      },
    },
    {
      name: 'postgres-late',
      comment: 'Postgres is loaded only when a database is configured',
      severity: 'error',
      from: {
        path: '^(packages|apps)/',
        pathNot: ['^packages/runs/src/stores/postgres/', ...TESTS],
      },
      to: {
        path: ['/node_modules/pg/', '^packages/runs/src/stores/postgres/'],
        dependencyTypesNot: ['type-only'],
        dynamic: false,
      },
    },
    {
      name: 'not-to-unresolvable',
      comment: 'An import that does not resolve',
      severity: 'error',
      from: {},
      // `mdast` has only types, which are in another package.
      to: { couldNotResolve: true, pathNot: '^mdast$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['/dist/', '/fixtures/', '/create-tutti/template/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      conditionNames: ['@tutti/source', 'types', 'import', 'node', 'default'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.mts', '.mjs', '.js', '.json', '.css'],
    },
  },
}

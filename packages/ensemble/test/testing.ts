/**
 * The parts of `@tutti/testing` that these tests use. By path, since that package builds on this one:
 * a dependency both ways would be a cycle that no build can order.
 */
export {
  fakeClock,
  scriptedModel,
  type FakeClock,
  type ScriptedReply,
} from '../../testing/src/index.ts'

/** Pure: converts rows of the Postgres store to records. */
import { RecordReader } from '../../shared/read-records.ts'
import { postgresDialect } from '../schema/dialect.ts'

/** Reads the rows of this store. The driver returns row ids as texts. */
export const postgresRecords = new RecordReader(postgresDialect.texts)

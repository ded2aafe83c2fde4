/** A database that is empty when it is given, and dropped when it is disposed of. */
export interface TestDatabase extends AsyncDisposable {
    readonly url: string;
}
/** A server of one's own, with an empty database; it is gone when it is disposed of. */
export interface TestServer extends AsyncDisposable {
    readonly url: string;
    /** Ends all connections and stops the server. */
    stop(): Promise<void>;
    /** Starts it again, with the same URL and the same data. */
    start(): Promise<void>;
    /** Stops it at once, as in a crash: what was committed is there after `start`. */
    kill(): Promise<void>;
}
/** How a server is to be. */
export interface TestServerOptions {
    /** Whether a commit waits for the disk, as benches need it. @default false */
    readonly durable?: boolean;
}
/** A fresh database on the shared server. @throws {Error} when there is no Postgres, with the reason. */
export declare function testDatabase(): Promise<TestDatabase>;
/** A server of one's own. @throws {Error} when it cannot be started, with the reason. */
export declare function testServer({ durable }?: TestServerOptions): Promise<TestServer>;

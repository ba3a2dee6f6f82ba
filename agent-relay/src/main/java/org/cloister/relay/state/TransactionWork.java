package org.cloister.relay.state;

/**
 * Work of one transaction, which is committed as a whole or rolled back.
 *
 * @param <X> exception that the work may throw in addition
 */
@FunctionalInterface
public interface TransactionWork<T, X extends Exception> {
    T run(RelayTransaction transaction) throws RelayDatabaseException, X;
}

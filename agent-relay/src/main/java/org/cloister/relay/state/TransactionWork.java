package org.cloister.relay.state;

/**
 * What is done whole or not at all.
 *
 * @param <X> what else it may end with
 */
@FunctionalInterface
public interface TransactionWork<T, X extends Exception> {
    T run(RelayTransaction transaction) throws RelayDatabaseException, X;
}

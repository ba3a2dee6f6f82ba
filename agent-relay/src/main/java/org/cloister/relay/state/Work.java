package org.cloister.relay.state;

/**
 * What is done whole or not at all.
 *
 * @param <X> what else it may end with
 */
@FunctionalInterface
public interface Work<T, X extends Exception> {
    T in(Transaction transaction) throws StateException, X;
}

package org.cloister.host.domain;

/** State of a domain's CPUs. A domain that has ended does not exist. */
public enum DomainState {
    /** Started and not resumed yet, or paused by someone. */
    PAUSED,
    RUNNING,
    /** Powering off, crashed, or being destroyed. */
    ENDING
}

package org.cloister.host.domain;

/** What a domain's CPUs do. A domain that has ended is not there. */
public enum DomainState {
    /** Started and not resumed yet, or stopped by someone. */
    PAUSED,
    RUNNING,
    /** Powering off, crashed, or on its way out. */
    ENDING
}

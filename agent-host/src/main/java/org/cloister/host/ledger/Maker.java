package org.cloister.host.ledger;

import java.io.IOException;

/** Makes one VM, step by step, from {@link Step#OVERLAY} to {@link Step#RUNNING}. */
public interface Maker {
    /** Whether nothing is there under the name of what the step makes; true if it makes no such thing. */
    boolean isFree(Step step) throws IOException;

    /** Returns when it is done. Marks what it makes with its owner. */
    void make(Step step) throws IOException;
}

package org.cloister.host.step;

import java.io.IOException;

/** The step has ended, or is about to: nothing may run for it any more. */
public final class StepGone extends IOException {
    private static final long serialVersionUID = 1;

    public StepGone(String message) {
        super(message);
    }
}

package org.cloister.preflight.machine;

/** A program was started and did not end in time; the probe of KVM takes that as a result. */
public final class ProgramTimeoutException extends UndeterminedException {
    private static final long serialVersionUID = 1;

    public ProgramTimeoutException(String reason, String remedy) {
        super(reason, remedy);
    }
}

package org.cloister.vm.controller.unlock;

import java.io.IOException;
import org.cloister.protocol.handover.BootPhase;

/** The unlock is refused, or could not be carried out. */
public final class UnlockRefused extends IOException {
    private static final long serialVersionUID = 1;

    private final BootPhase phase;
    private final String reason;

    /** @param text for this VM's log */
    public UnlockRefused(UnlockRefusal refusal, String text) {
        super(text);
        this.phase = BootPhase.KEYS;
        this.reason = refusal.toString();
    }

    public UnlockRefused(UnlockRefusal refusal, Exception cause) {
        super(refusal + ": " + cause.getMessage(), cause);
        this.phase = BootPhase.KEYS;
        this.reason = refusal.toString();
    }

    /** @param reason of lower-case letters and dashes */
    public UnlockRefused(BootPhase phase, String reason, Exception cause) {
        super(reason + ": " + cause.getMessage(), cause);
        this.phase = phase;
        this.reason = reason;
    }

    public BootPhase phase() {
        return phase;
    }

    /** Returns the word as it is sent to the opener. */
    public String word() {
        return reason;
    }
}

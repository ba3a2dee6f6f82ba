package org.cloister.vm.controller.unlock;

import java.io.IOException;
import org.cloister.protocol.handover.BootPhase;

/** The unlock is refused, or could not be carried out. */
public final class UnlockRefused extends IOException {
    private static final long serialVersionUID = 1;

    private final BootPhase phase;
    private final String word;

    /** @param text for this VM's log */
    public UnlockRefused(UnlockRefusal why, String text) {
        super(text);
        this.phase = BootPhase.KEYS;
        this.word = why.toString();
    }

    public UnlockRefused(UnlockRefusal why, Exception cause) {
        super(why + ": " + cause.getMessage(), cause);
        this.phase = BootPhase.KEYS;
        this.word = why.toString();
    }

    /** @param word of lower-case letters and dashes */
    public UnlockRefused(BootPhase phase, String word, Exception cause) {
        super(word + ": " + cause.getMessage(), cause);
        this.phase = phase;
        this.word = word;
    }

    public BootPhase phase() {
        return phase;
    }

    /** Returns the word as it is sent to the opener. */
    public String word() {
        return word;
    }
}

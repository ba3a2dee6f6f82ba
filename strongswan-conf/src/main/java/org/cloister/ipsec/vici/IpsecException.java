package org.cloister.ipsec.vici;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Failure of an operation on strongSwan or the kernel. The message has the operation, both values and the remedy. */
public abstract sealed class IpsecException extends IOException {
    private static final long serialVersionUID = 1;

    private IpsecException(String operation, String expected, String actual, String remedy, @Nullable Throwable cause) {
        super(operation + ": want " + expected + ", have " + actual + "; " + remedy, cause);
    }

    /** charon is not running, or the connection ended. The request may or may not have been carried out. */
    public static final class Disconnected extends IpsecException {
        private static final long serialVersionUID = 1;

        public Disconnected(String operation, String actual) {
            super(operation, "a connection to charon", actual, "see whether charon-systemd runs", null);
        }
    }

    /** No answer arrived in time. The request may or may not have been carried out. */
    public static final class TimedOut extends IpsecException {
        private static final long serialVersionUID = 1;

        public TimedOut(String operation, String actual, String remedy) {
            super(operation, "an answer", actual, remedy, null);
        }
    }

    /** charon's bytes violate the protocol; the connection is closed. */
    public static final class Malformed extends IpsecException {
        private static final long serialVersionUID = 1;

        public Malformed(String operation, String expected, String actual) {
            super(operation, expected, actual, "see which program listens on this socket", null);
        }
    }

    /** charon refused the command. */
    public static final class Refused extends IpsecException {
        private static final long serialVersionUID = 1;

        public Refused(String command, String answer) {
            super(command, "success", answer, "read charon's log", null);
        }
    }

    /** The requested plan violates policy or contradicts itself; nothing was sent. */
    public static final class PlanRefused extends IpsecException {
        private static final long serialVersionUID = 1;

        public PlanRefused(String subject, String expected, String actual, String remedy) {
            super(subject, expected, actual, remedy, null);
        }
    }

    /** The kernel's rules are not the guard's. */
    public static final class GuardMissing extends IpsecException {
        private static final long serialVersionUID = 1;

        public GuardMissing(String expected, String actual, String remedy) {
            super("guard", expected, actual, remedy, null);
        }
    }
}

package org.cloister.ovs.io;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Failure of an operation on Open vSwitch. The message has the operation, both values and the remedy. */
public abstract class OvsException extends IOException {
    private static final long serialVersionUID = 1;
    private static final int MOST = 200;

    private OvsException(String operation, String expected, String actual, String remedy, @Nullable Throwable cause) {
        super(operation + ": want " + expected + ", have " + actual + "; " + remedy, cause);
    }

    /** Returns enough to recognise what a peer sent, because the peer chooses its length. */
    private static String shortened(String answer) {
        return answer.length() <= MOST
                ? answer
                : answer.substring(0, MOST) + "... (" + answer.length() + " characters)";
    }

    /** The connection ended, or did not exist. The request may or may not have been carried out. */
    public static final class Disconnected extends OvsException {
        private static final long serialVersionUID = 1;

        public Disconnected(String operation, String actual) {
            super(operation, "an open connection", actual, "see whether the daemon of Open vSwitch runs", null);
        }
    }

    /** No answer arrived in time. The request may or may not have been carried out. */
    public static final class TimedOut extends OvsException {
        private static final long serialVersionUID = 1;

        public TimedOut(String operation, String expected, String actual, String remedy) {
            super(operation, expected, actual, remedy, null);
        }
    }

    /** The peer's bytes violate the protocol; the connection is closed. */
    public static final class Malformed extends OvsException {
        private static final long serialVersionUID = 1;

        public Malformed(String operation, String expected, String actual) {
            this(operation, expected, actual, null);
        }

        public Malformed(String operation, String expected, String actual, @Nullable Throwable cause) {
            super(operation, expected, shortened(actual), "see which program listens on this socket", cause);
        }
    }

    /** OVSDB answered with an error, beside the result or inside it. Nothing of the transaction was done. */
    public static final class TransactionRefused extends OvsException {
        private static final long serialVersionUID = 1;

        private final String code;

        /** @param code the server's error code, such as {@code constraint violation} */
        public TransactionRefused(String operation, String code, String details) {
            super(
                    operation,
                    "a transaction without error",
                    shortened(code + (details.isEmpty() ? "" : ": " + details)),
                    "see the row it names with ovs-vsctl list",
                    null);
            this.code = code;
        }

        public String code() {
            return code;
        }
    }

    /** The switch refused a message. Nothing of its bundle was done. */
    public static final class FlowRefused extends OvsException {
        private static final long serialVersionUID = 1;

        public FlowRefused(String operation, int type, int code) {
            super(
                    operation,
                    "no error",
                    "OpenFlow error type " + type + " code " + code,
                    "read the log of ovs-vswitchd",
                    null);
        }
    }

    /** The host's own stack could not be kept away from ports; no port is made. */
    public static final class RulesRefused extends OvsException {
        private static final long serialVersionUID = 1;

        public RulesRefused(String operation, String actual) {
            super(operation, "exit 0", actual, "install nftables; changing rules needs CAP_NET_ADMIN", null);
        }
    }

    /** The switch could not open a device; its port was removed again. */
    public static final class DeviceRefused extends OvsException {
        private static final long serialVersionUID = 1;

        public DeviceRefused(String device, String error) {
            super(
                    "port " + device,
                    "an open device",
                    error,
                    "make the device before the port, and look for another bridge that has it",
                    null);
        }
    }

    /** The requested plan contradicts itself, the bridge's other ports or ports that another program made. */
    public static final class PlanRefused extends OvsException {
        private static final long serialVersionUID = 1;

        public PlanRefused(String subject, String expected, String actual, String remedy) {
            super(subject, expected, actual, remedy, null);
        }
    }
}

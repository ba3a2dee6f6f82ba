package org.cloister.vm.rpcfilter;

import java.util.Locale;

/**
 * Reason for which a connection is closed.
 *
 * @param code name in counters, of a fixed set
 * @param text for the journal; of the peer's bytes it contains numbers only
 */
record RpcRefusal(Code code, String name, String text) {
    /** Kinds of refusals; a {@link #TYPE} refusal is counted under the message's own name. */
    enum Code {
        TYPE,
        UNKNOWN,
        VERSION,
        FLAGS,
        FORWARD,
        LENGTH,
        SLOW,
        EXTRA,
        CONNECTIONS,
        ADDRESS;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static RpcRefusal type(SlurmMessageType type) {
        return new RpcRefusal(Code.TYPE, type.code(), "type " + type + " is not for workers");
    }

    static RpcRefusal of(Code code, String text) {
        return new RpcRefusal(code, code.text(), text);
    }
}

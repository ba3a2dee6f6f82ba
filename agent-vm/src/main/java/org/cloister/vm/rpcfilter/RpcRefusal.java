package org.cloister.vm.rpcfilter;

import java.util.Locale;

/**
 * Why a connection is closed.
 *
 * @param code name in counters, of a set that does not grow
 * @param text for the journal; no byte of a peer's but numbers
 */
record RpcRefusal(Code code, String name, String text) {
    /** Kinds; of {@link #TYPE} the message's own name is counted. */
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

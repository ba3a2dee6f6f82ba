package org.cloister.ipsec;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.cloister.ipsec.vici.ViciMessage;
import org.jspecify.annotations.Nullable;

/** States of all tunnels, from events and from queries; notifies a listener of each change. */
final class TunnelStates {
    /** Maximum age of a log line that can explain a present failure. */
    private static final long RELEVANT_NS =
            CharonSettings.DEAD_AFTER.plusSeconds(2).toNanos();

    private final Consumer<TunnelEvent> listener;
    /** Planned peers, with whether each is up. */
    private final Map<String, Boolean> up = new ConcurrentHashMap<>();

    private final Map<String, LogEntry> entries = new HashMap<>();
    /** Connections that were missing at the last check. While a child SA moves to a rekeyed IKE SA, neither has it. */
    private final Set<String> missed = new HashSet<>();

    private boolean answers;

    /** The last failure that charon's log reported for a connection. */
    private record LogEntry(TunnelFailureCause cause, long atNs) {}

    TunnelStates(Consumer<TunnelEvent> listener) {
        this.listener = listener;
    }

    Map<String, Boolean> snapshot() {
        return Map.copyOf(up);
    }

    void onCharon(boolean isReachable, String why) {
        if (answers != isReachable) {
            answers = isReachable;
            listener.accept(new TunnelEvent.CharonState(isReachable, why));
            if (!isReachable) {
                up.keySet().forEach(peer -> down(peer, null));
            }
        }
    }

    /** Returns the connections for which an attempt failed recently. A tunnel that its peer closed has not failed. */
    Set<String> failed(long nowNs) {
        Set<String> failed = new HashSet<>();
        entries.forEach((name, last) -> {
            if (isRecent(last, nowNs) && last.cause != TunnelFailureCause.PEER_CLOSED) {
                failed.add(name);
            }
        });
        return failed;
    }

    /** Handles an event; returns whether a step may be necessary. */
    boolean onEvent(String name, ViciMessage message, long nowNs) {
        if (name.equals("log")) {
            TunnelFailureCause cause = TunnelFailureCause.of(message.text("msg", ""));
            if (cause != null) {
                entries.put(message.text("ikesa-name", ""), new LogEntry(cause, nowNs));
            }
            return cause != null;
        }
        for (String connection : message.sections().keySet()) {
            String peer = peer(connection);
            if (peer == null || !up.containsKey(peer)) {
                continue;
            }
            if (name.equals("child-updown") && message.isYes("up")) {
                up(peer);
            } else if (name.equals("child-updown")) {
                // The event reports it, so the child is not moving: the next check decides.
                missed.add(connection);
            } else if (name.equals("child-rekey")) {
                listener.accept(new TunnelEvent.Rekeyed(peer));
            }
        }
        return name.endsWith("-updown");
    }

    void onFound(Map<String, TunnelConnection> desired, List<IkeSa> sas, long nowNs) {
        up.keySet().removeIf(peer -> !desired.containsKey(TunnelConnection.PREFIX + peer));
        desired.values().forEach(connection -> up.putIfAbsent(connection.peer().name(), false));
        entries.keySet().removeIf(name -> !desired.containsKey(name));
        missed.removeIf(name -> !desired.containsKey(name));
        for (TunnelConnection connection : desired.values()) {
            String name = connection.name();
            if (sas.stream().anyMatch(sa -> sa.name().equals(name) && sa.isUp())) {
                missed.remove(name);
                up(connection.peer().name());
            } else if (!missed.add(name)) {
                LogEntry last = entries.get(name);
                down(connection.peer().name(), last != null && isRecent(last, nowNs) ? last.cause : null);
            }
        }
    }

    private static boolean isRecent(LogEntry entry, long nowNs) {
        return nowNs - entry.atNs < RELEVANT_NS;
    }

    private void up(String peer) {
        if (Boolean.FALSE.equals(up.put(peer, true))) {
            entries.remove(TunnelConnection.PREFIX + peer);
            listener.accept(new TunnelEvent.Up(peer));
        }
    }

    private void down(String peer, @Nullable TunnelFailureCause cause) {
        if (Boolean.TRUE.equals(up.put(peer, false))) {
            listener.accept(new TunnelEvent.Down(peer, cause));
        }
    }

    private static @Nullable String peer(String connection) {
        return connection.startsWith(TunnelConnection.PREFIX)
                ? connection.substring(TunnelConnection.PREFIX.length())
                : null;
    }
}

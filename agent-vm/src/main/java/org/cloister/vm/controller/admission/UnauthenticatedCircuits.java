package org.cloister.vm.controller.admission;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;

/**
 * Boot circuits in workers' names that have not shown evidence yet. A slot may have several; each key has one, its
 * newest, and above a limit the oldest is removed. Not thread-safe.
 *
 * @param <T> session of a circuit
 */
final class UnauthenticatedCircuits<T> {
    private final Map<CertificateName, Deque<T>> slots = new HashMap<>();
    private final Function<T, VerificationKey> key;
    private int count;

    /** @param key returns the key that the circuit's peer has shown */
    UnauthenticatedCircuits(Function<T, VerificationKey> key) {
        this.key = key;
    }

    /**
     * Adds a circuit.
     *
     * @return the circuits that were removed for it
     */
    List<T> add(CertificateName worker, T circuit) {
        List<T> removed = new ArrayList<>();
        VerificationKey peerKey = key.apply(circuit);
        for (T each : List.copyOf(slots.getOrDefault(worker, new ArrayDeque<>()))) {
            if (key.apply(each).equals(peerKey)) {
                remove(worker, each);
                removed.add(each);
            }
        }
        Deque<T> slot = slots.computeIfAbsent(worker, name -> new ArrayDeque<>());
        slot.addLast(circuit);
        count++;
        if (slot.size() > ProtocolLimits.BOOT_CIRCUITS) {
            removed.add(oldest(worker));
        } else if (count > ProtocolLimits.VM_CIRCUITS) {
            removed.add(oldest(fullest()));
        }
        return removed;
    }

    private CertificateName fullest() {
        return slots.entrySet().stream()
                .max(Comparator.comparingInt(slot -> slot.getValue().size()))
                .orElseThrow()
                .getKey();
    }

    private T oldest(CertificateName worker) {
        T oldest = slots.getOrDefault(worker, new ArrayDeque<>()).getFirst();
        remove(worker, oldest);
        return oldest;
    }

    boolean has(CertificateName worker, T circuit) {
        return slots.getOrDefault(worker, new ArrayDeque<>()).contains(circuit);
    }

    /**
     * Removes a circuit.
     *
     * @return whether it was present
     */
    boolean remove(CertificateName worker, T circuit) {
        Deque<T> slot = slots.getOrDefault(worker, new ArrayDeque<>());
        boolean removed = slot.remove(circuit);
        count -= removed ? 1 : 0;
        if (slot.isEmpty()) {
            slots.remove(worker);
        }
        return removed;
    }

    /**
     * Removes a slot's circuits.
     *
     * @return the removed circuits
     */
    List<T> removeAll(CertificateName worker) {
        Deque<T> slot = slots.remove(worker);
        if (slot == null) {
            return List.of();
        }
        count -= slot.size();
        return List.copyOf(slot);
    }
}

package org.cloister.ovs;

/** A difference between the bridge and its plan. */
public record BridgeDifference(String subject, String should, String has) {
    @Override
    public String toString() {
        return subject + ": should be " + should + ", is " + has;
    }
}

package org.cloister.ovs;

/** Something on the bridge that is not as it should be. */
public record BridgeDifference(String subject, String should, String has) {
    @Override
    public String toString() {
        return subject + ": should be " + should + ", is " + has;
    }
}

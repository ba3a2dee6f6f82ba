package org.cloister.ovs.openflow;

/** A rule of a switch. Two flows of the same {@link Key} cannot be in a table at once. */
public record Flow(Key key, long cookie, Instructions instructions) {

    /** What OpenFlow calls strict: names exactly one flow. */
    public record Key(int table, int priority, Match match) {
        @Override
        public String toString() {
            return "table=" + table + ",priority=" + priority + "," + match;
        }
    }

    public static Flow of(int table, int priority, Match match, long cookie, Instructions instructions) {
        return new Flow(new Key(table, priority, match), cookie, instructions);
    }

    @Override
    public String toString() {
        return key + String.format(" cookie=0x%x ", cookie) + instructions;
    }
}

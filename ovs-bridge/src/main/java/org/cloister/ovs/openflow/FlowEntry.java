package org.cloister.ovs.openflow;

/** A flow of a switch. Two flows of the same {@link Key} cannot be in a table at once. */
public record FlowEntry(Key key, long cookie, FlowInstructions instructions) {

    /** Identifies exactly one flow, as OpenFlow's strict matching does. */
    public record Key(int table, int priority, FlowMatch match) {
        @Override
        public String toString() {
            return "table=" + table + ",priority=" + priority + "," + match;
        }
    }

    public static FlowEntry of(int table, int priority, FlowMatch match, long cookie, FlowInstructions instructions) {
        return new FlowEntry(new Key(table, priority, match), cookie, instructions);
    }

    @Override
    public String toString() {
        return key + String.format(" cookie=0x%x ", cookie) + instructions;
    }
}

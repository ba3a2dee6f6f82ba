package org.cloister.vm.controller.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.tickets.WorkerEvent.Allocated;
import org.cloister.vm.controller.tickets.WorkerEvent.Ended;
import org.cloister.vm.controller.tickets.WorkerEvent.NodeGone;
import org.cloister.vm.controller.tickets.WorkerEvent.NodeReady;
import org.cloister.vm.controller.tickets.WorkerEvent.Passed;
import org.cloister.vm.controller.tickets.WorkerEvent.Refused;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Contract of every {@link WorkerAllocator}, on a site of a few hosts that nobody else uses. */
public abstract class WorkerAllocatorContract {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz234567";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final List<WorkerEvent> events = new CopyOnWriteArrayList<>();
    private final List<String> requests = new ArrayList<>();
    private WorkerAllocator workers = new NoListener();

    /** One that has not been started; there is one at a time. */
    protected abstract WorkerAllocator open() throws IOException;

    /** The sudden end of the process that asks; its workers do not notice. */
    protected abstract void kill(WorkerAllocator allocator) throws IOException;

    /** How many hosts the site has, two at least, of one CPU and 100 MiB or more. */
    protected abstract int hosts();

    /** Whether a worker runs. */
    protected abstract boolean runs(String node) throws IOException;

    /** The sudden end of a worker. */
    protected abstract void lose(String node) throws IOException;

    @BeforeEach
    void open_the_first() throws IOException {
        again();
    }

    @AfterEach
    void leave_nothing() throws Exception {
        for (String ticket : requests) {
            workers.withdrawTicket(ticket);
            await(
                    ticket + " ended",
                    event -> event instanceof Ended && event.ticket().equals(ticket));
        }
        kill(workers);
    }

    @Test
    protected void nodes_of_a_ticket_come_one_a_slot_and_go_when_it_is_released() throws Exception {
        String ticket = ask(2, false);
        List<String> nodes = awaitNodes(ticket, 2);
        assertThat(nodes).doesNotHaveDuplicates();
        assertThat(events.get(0)).isEqualTo(new Allocated(ticket, 2));
        for (int slot = 0; slot < 2; slot++) {
            List<WorkerEvent> received = course(ticket, slot);
            assertThat(received.get(received.size() - 1)).isInstanceOf(NodeReady.class);
            assertThat(received.subList(0, received.size() - 1))
                    .allMatch(Passed.class::isInstance)
                    .extracting(event -> ((Passed) event).phase())
                    .startsWith(WorkerPhase.QUEUE, WorkerPhase.BOOT)
                    .isSorted();
        }
        for (String node : nodes) {
            assertThat(runs(node)).isTrue();
        }
        workers.releaseTicket(ticket);
        awaitEnd(ticket);
        for (String node : nodes) {
            assertThat(runs(node)).isFalse();
        }
    }

    @Test
    protected void what_is_asked_twice_is_given_once() throws Exception {
        String ticket = ask(1, false);
        workers.submitTicket(ticket, request(1, false));
        String node = awaitNodes(ticket, 1).get(0);
        workers.submitTicket(ticket, request(1, false));
        await("told again", event -> event instanceof NodeReady, 2);
        assertThat(events)
                .filteredOn(NodeReady.class::isInstance)
                .allMatch(event -> ((NodeReady) event).node().equals(node));
    }

    @Test
    protected void one_that_is_withdrawn_at_once_ends_and_leaves_nothing() throws Exception {
        String ticket = ask(2, true);
        workers.withdrawTicket(ticket);
        awaitEnd(ticket);
        for (WorkerEvent event : events) {
            if (event instanceof NodeReady ready) {
                assertThat(runs(ready.node())).isFalse();
            }
        }
        String next = ask(hosts(), true);
        awaitNodes(next, hosts());
    }

    @Test
    protected void of_one_not_known_the_end_is_told() throws Exception {
        String never = ticket();
        workers.resumeTicket(never);
        awaitEnd(never);
        workers.withdrawTicket(never);
        await("its end again", event -> event instanceof Ended, 2);
        workers.releaseTicket(never);
        await("its end a third time", event -> event instanceof Ended, 3);
    }

    @Test
    protected void whoever_asks_next_is_told_all_that_holds() throws Exception {
        String ticket = ask(2, false);
        List<String> nodes = awaitNodes(ticket, 2);
        kill(workers);
        for (String node : nodes) {
            assertThat(runs(node)).isTrue();
        }
        again();
        workers.resumeTicket(ticket);
        assertThat(awaitNodes(ticket, 2)).isEqualTo(nodes);
        assertThat(events).contains(new Allocated(ticket, 2));
        workers.releaseTicket(ticket);
        awaitEnd(ticket);
        kill(workers);
        again();
        workers.resumeTicket(ticket);
        awaitEnd(ticket);
    }

    @Test
    protected void one_asked_for_just_before_the_asker_died_comes_when_it_is_asked_for_again() throws Exception {
        String ticket = ask(2, false);
        kill(workers);
        again();
        workers.submitTicket(ticket, request(2, false));
        awaitNodes(ticket, 2);
    }

    @Test
    protected void one_that_was_withdrawn_just_before_the_asker_died_ends_when_it_is_withdrawn_again()
            throws Exception {
        String ticket = ask(1, false);
        String node = awaitNodes(ticket, 1).get(0);
        workers.withdrawTicket(ticket);
        kill(workers);
        again();
        workers.withdrawTicket(ticket);
        awaitEnd(ticket);
        assertThat(runs(node)).isFalse();
    }

    @Test
    protected void more_than_the_site_has_waits_until_there_is_room() throws Exception {
        String first = ask(hosts(), true);
        awaitNodes(first, hosts());
        String second = ask(1, true);
        String third = ask(1, true);
        workers.resumeTicket(second);
        workers.releaseTicket(first);
        awaitEnd(first);
        awaitNodes(second, 1);
        awaitNodes(third, 1);
        int end = events.indexOf(new Ended(first, WorkerEvent.EndReason.NONE));
        assertThat(events.subList(0, end)).noneMatch(event -> event.ticket().equals(second));
    }

    @Test
    protected void what_the_site_never_has_is_refused() throws Exception {
        String ticket = ticket();
        requests.add(ticket);
        workers.submitTicket(ticket, request(hosts() + 1, true));
        await("refused", event -> event instanceof Refused && event.ticket().equals(ticket));
        Refused refused = (Refused) events.get(events.size() - 1);
        assertThat(refused.reason().text()).isNotBlank();
        assertThat(refused.reason().retryable()).isFalse();
        assertThat(events).noneMatch(Allocated.class::isInstance);
    }

    @Test
    protected void a_worker_that_is_lost_is_told_of_and_the_others_stay() throws Exception {
        String ticket = ask(2, false);
        List<String> nodes = awaitNodes(ticket, 2);
        lose(nodes.get(1));
        await("it has gone", event -> event instanceof NodeGone gone && gone.slot() == 1);
        assertThat(runs(nodes.get(0))).isTrue();
        assertThat(events).noneMatch(event -> event instanceof NodeGone gone && gone.slot() == 0);
        workers.releaseTicket(ticket);
        awaitEnd(ticket);
        assertThat(runs(nodes.get(0))).isFalse();
    }

    @Test
    protected void a_worker_that_was_lost_while_nobody_asked_is_told_of_to_the_next() throws Exception {
        String ticket = ask(1, false);
        String node = awaitNodes(ticket, 1).get(0);
        kill(workers);
        lose(node);
        again();
        workers.resumeTicket(ticket);
        await(
                "it has gone",
                event -> event instanceof NodeGone gone && gone.ticket().equals(ticket));
    }

    protected final WorkerAllocator workers() {
        return workers;
    }

    protected final List<WorkerEvent> heard() {
        return events;
    }

    protected final String ask(int nodes, boolean exclusive) {
        String ticket = ticket();
        requests.add(ticket);
        workers.submitTicket(ticket, request(nodes, exclusive));
        return ticket;
    }

    protected static ResourceRequest request(int nodes, boolean exclusive) {
        return new ResourceRequest(
                nodes, OptionalInt.empty(), 1, OptionalInt.empty(), exclusive ? 0 : 100, 0, exclusive, 10, List.of());
    }

    protected static String ticket() {
        StringBuilder id = new StringBuilder();
        for (int i = 0; i < 26; i++) {
            id.append(LETTERS.charAt(RANDOM.nextInt(LETTERS.length())));
        }
        return id.toString();
    }

    /** @return by slot */
    protected final List<String> awaitNodes(String ticket, int count) throws InterruptedException {
        List<String> nodes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int slot = i;
            Predicate<WorkerEvent> ready =
                    event -> event instanceof NodeReady node && node.ticket().equals(ticket) && node.slot() == slot;
            await("slot " + slot + " of " + ticket, ready);
            nodes.add(((NodeReady) events.stream().filter(ready).findFirst().orElseThrow()).node());
        }
        return nodes;
    }

    protected final void awaitEnd(String ticket) throws InterruptedException {
        await(
                "the end of " + ticket,
                event -> event instanceof Ended && event.ticket().equals(ticket));
    }

    protected final void await(String what, Predicate<WorkerEvent> condition) throws InterruptedException {
        await(what, condition, 1);
    }

    private void await(String what, Predicate<WorkerEvent> condition, int times) throws InterruptedException {
        long endNs = System.nanoTime() + TIMEOUT.toNanos();
        while (events.stream().filter(condition).count() < times) {
            if (System.nanoTime() - endNs >= 0) {
                throw new AssertionError("never: " + what + "; heard: " + events);
            }
            Thread.sleep(10);
        }
    }

    private List<WorkerEvent> course(String ticket, int slot) {
        return events.stream()
                .filter(event -> event.ticket().equals(ticket))
                .filter(event -> (event instanceof Passed passed && passed.slot() == slot)
                        || (event instanceof NodeReady ready && ready.slot() == slot))
                .toList();
    }

    private void again() throws IOException {
        events.clear();
        workers = open();
        workers.start(events::add);
    }

    /** Listener before the first one is set. */
    private static final class NoListener implements WorkerAllocator {
        @Override
        public void start(java.util.function.Consumer<WorkerEvent> events) {}

        @Override
        public void submitTicket(String ticket, ResourceRequest request) {}

        @Override
        public void resumeTicket(String ticket) {}

        @Override
        public void releaseTicket(String ticket) {}

        @Override
        public void withdrawTicket(String ticket) {}
    }
}

package org.cloister.host.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.host.ledger.End.Why;
import org.cloister.host.vm.VmOwner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CourseTest {
    private static final VmOwner OWNER = Owners.owner(1);
    private static final VmOwner OTHER = Owners.owner(2);
    private static final long NOW = 1_000_000;
    private static final Entry REGISTERED = Entry.claim(OWNER, true, 0).at(Step.REGISTERED);
    private static final Entry RUNNING = Entry.claim(OWNER, true, NOW - 1).at(Step.RUNNING);
    private static final End ASKED = new End(Why.ASKED, "", NOW - 1);

    private final Map<Part, Answer<Thing>> answers = new EnumMap<>(Part.class);
    private Set<String> died = Set.of(OTHER.uuid());
    private Answer<String> inStep = new Answer.Known<>(Set.of(OWNER.uuid()));

    CourseTest() {
        for (Part part : Part.values()) {
            has(part, thing(part, OWNER));
        }
    }

    private static Thing thing(Part part, VmOwner owner) {
        return new Thing(part, part.nameOf(owner), Optional.of(owner), true);
    }

    private void has(Part part, Thing... things) {
        answers.put(part, new Answer.Known<>(Set.of(things)));
    }

    private void isUnknown(Part part) {
        answers.put(part, new Answer.Unknown<>("its daemon was killed"));
    }

    private void stands() {
        has(Part.DOMAIN, new Thing(Part.DOMAIN, Part.DOMAIN.nameOf(OWNER), Optional.of(OWNER), false));
    }

    private List<Action> next(Entry... entries) {
        List<Entry> all = List.of(entries);
        return Course.next(new Course.Books(all, Set.of(), all, died), new Seen(answers, inStep), Daemon.TIMES, NOW);
    }

    private static Action finish(Why why, String at) {
        return new Action.Finish(OWNER, new End(why, at, NOW));
    }

    @Test
    void a_vm_that_is_all_right_is_left_alone() {
        assertThat(next(REGISTERED)).isEmpty();
        assertThat(next(RUNNING)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_part_that_is_unknown_is_not_gone(Part part) {
        isUnknown(part);
        assertThat(next(REGISTERED)).isEmpty();
        assertThat(next()).isEmpty();
    }

    @Test
    void a_vm_without_its_domain_has_ended_and_without_another_part_it_ends() {
        for (Part part : List.of(Part.OVERLAY, Part.SCRATCH, Part.TAP)) {
            has(part);
            assertThat(next(REGISTERED)).containsExactly(finish(Why.LOST, part.name()));
            has(part, thing(part, OWNER));
        }
        has(Part.DOMAIN);
        has(Part.TAP);
        assertThat(next(REGISTERED)).containsExactly(finish(Why.DOMAIN_GONE, "DOMAIN"));
        died = Set.of(OWNER.uuid());
        assertThat(next(REGISTERED)).containsExactly(finish(Why.DIED, "DOMAIN"));
    }

    @Test
    void a_vm_that_never_had_a_scratch_disk_does_not_lack_one() {
        has(Part.SCRATCH);
        assertThat(next(Entry.claim(OWNER, false, 0).at(Step.REGISTERED))).isEmpty();
    }

    @Test
    void a_port_that_is_gone_is_made_again() {
        has(Part.PORT);
        assertThat(next(REGISTERED)).containsExactly(new Action.Reopen(OWNER));
    }

    @Test
    void a_vm_whose_step_has_gone_ends_and_one_whose_step_is_unknown_does_not() {
        inStep = new Answer.Known<>(Set.of(OTHER.uuid()));
        assertThat(next(REGISTERED)).containsExactly(finish(Why.STEP_GONE, ""));
        inStep = new Answer.Unknown<>("not mounted");
        assertThat(next(REGISTERED)).isEmpty();
    }

    @Test
    void a_guest_that_may_not_have_begun_is_resumed_and_one_that_had_is_ended() {
        stands();
        assertThat(next(RUNNING)).containsExactly(new Action.Resume(OWNER));
        assertThat(next(REGISTERED)).containsExactly(finish(Why.STOPPED, ""));
    }

    @Test
    void a_guest_that_does_not_speak_in_time_ends_and_one_that_has_spoken_may_live_for_ever() {
        Entry late = Entry.claim(OWNER, true, NOW - Daemon.TIMES.register().toMillis())
                .at(Step.RUNNING);
        assertThat(next(late)).containsExactly(finish(Why.NOT_REGISTERED, ""));
        assertThat(next(late.at(Step.REGISTERED))).isEmpty();
    }

    @Test
    void what_nobody_builds_any_more_ends_and_what_is_built_is_left_alone() {
        for (Step step : EnumSet.range(Step.CLAIMED, Step.MOVED)) {
            assertThat(next(Entry.claim(OWNER, true, 0).at(step)))
                    .containsExactly(finish(Why.INTERRUPTED, step.name()));
        }
        Entry entry = Entry.claim(OWNER, true, 0).at(Step.TAP);
        for (Entry each : List.of(entry, entry.ending(ASKED))) {
            Course.Books books = new Course.Books(List.of(each), Set.of(OWNER.uuid()), List.of(each), died);
            assertThat(Course.next(books, new Seen(answers, inStep), Daemon.TIMES, NOW))
                    .isEmpty();
        }
    }

    @Test
    void a_guest_is_asked_first_and_destroyed_when_its_time_is_over() {
        assertThat(next(REGISTERED.ending(ASKED))).containsExactly(new Action.AskOff(OWNER));
        End before = new End(Why.ASKED, "", NOW - Daemon.TIMES.powerOff().toMillis());
        assertThat(next(REGISTERED.ending(before)))
                .startsWith(new Action.CutOff(OWNER), new Action.Remove(OWNER, Part.PORT));
        stands();
        assertThat(next(REGISTERED.ending(ASKED))).startsWith(new Action.Remove(OWNER, Part.DOMAIN));
    }

    @Test
    void a_vm_is_taken_away_in_reverse_and_its_entry_only_when_all_is_seen_to_be_gone() {
        Entry ending = REGISTERED.ending(new End(Why.STEP_GONE, "", NOW));
        assertThat(next(ending))
                .containsExactly(
                        new Action.Remove(OWNER, Part.DOMAIN),
                        new Action.Remove(OWNER, Part.PORT),
                        new Action.Remove(OWNER, Part.TAP),
                        new Action.Remove(OWNER, Part.SCRATCH),
                        new Action.Remove(OWNER, Part.OVERLAY));
        for (Part part : Part.values()) {
            has(part);
        }
        assertThat(next(ending))
                .containsExactly(new Action.Forget(OWNER, ending.end().orElseThrow()));
        for (Part part : Part.values()) {
            isUnknown(part);
            assertThat(next(ending)).as(part + " unknown").isEmpty();
            has(part);
        }
    }

    @Test
    void nothing_goes_from_below_a_part_that_is_unknown() {
        isUnknown(Part.TAP);
        assertThat(next(REGISTERED.ending(new End(Why.STEP_GONE, "", NOW))))
                .containsExactly(new Action.Remove(OWNER, Part.DOMAIN), new Action.Remove(OWNER, Part.PORT));
    }

    @Test
    void a_whole_vm_without_an_entry_goes_on_and_has_its_time_to_speak_again() {
        assertThat(next())
                .containsExactly(new Action.Adopt(Entry.claim(OWNER, true, NOW).at(Step.RUNNING)));
    }

    @Test
    void a_vm_without_an_entry_that_is_not_whole_ends() {
        Action end = new Action.Adopt(Entry.claim(OWNER, true, NOW).ending(new End(Why.ORPHAN, "", NOW)));
        stands();
        assertThat(next()).containsExactly(end);
        // Somebody's copy with its metadata runs, which says nothing of this one.
        answers.put(
                Part.DOMAIN,
                new Answer.Known<>(Set.of(
                        new Thing(Part.DOMAIN, Part.DOMAIN.nameOf(OWNER), Optional.of(OWNER), false),
                        new Thing(Part.DOMAIN, "copy", Optional.of(OWNER), true))));
        assertThat(next()).containsExactly(end);
        has(Part.DOMAIN, thing(Part.DOMAIN, OWNER));
        inStep = new Answer.Known<>(Set.of());
        assertThat(next()).containsExactly(end);
        inStep = new Answer.Known<>(Set.of(OWNER.uuid()));
        for (Part part : List.of(Part.OVERLAY, Part.TAP, Part.PORT, Part.DOMAIN)) {
            has(part);
            assertThat(next()).as("without " + part).containsExactly(end);
            has(part, thing(part, OWNER));
        }
    }

    @Test
    void what_was_claimed_while_the_sources_were_asked_is_no_orphan() {
        Course.Books books = new Course.Books(List.of(), Set.of(), List.of(REGISTERED), died);
        assertThat(Course.next(books, new Seen(answers, inStep), Daemon.TIMES, NOW))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_thing_with_anothers_mark_or_name_is_in_no_action(Part part) {
        for (Part each : Part.values()) {
            has(each);
        }
        VmOwner again = Owners.again(OWNER);
        VmOwner forged = new VmOwner(OWNER.project(), OWNER.ticket(), OWNER.slot(), 7, OWNER.uuid());
        Entry ending = REGISTERED.ending(new End(Why.STEP_GONE, "", NOW));
        Set<Thing> others = new HashSet<>();
        others.add(new Thing(part, "copy", Optional.of(OWNER), true));
        others.add(new Thing(part, part.nameOf(OWNER), Optional.of(forged), true));
        for (Thing other : others) {
            has(part, other);
            assertThat(next(ending))
                    .as(other.toString())
                    .containsExactly(new Action.Forget(OWNER, ending.end().orElseThrow()));
        }
        // The remains of an earlier life of the same place are taken away as its own, not as this one's.
        has(part, new Thing(part, part.nameOf(again), Optional.of(again), true));
        assertThat(next(ending)).doesNotContain(new Action.Remove(OWNER, part));
    }

    @Test
    void a_thing_without_a_mark_is_an_entrys_only_if_it_had_begun_to_make_it_and_no_other_lives_under_the_name() {
        has(Part.DOMAIN);
        has(Part.PORT);
        has(Part.SCRATCH);
        has(Part.OVERLAY);
        has(Part.TAP, new Thing(Part.TAP, Part.TAP.nameOf(OWNER), Optional.empty(), true));
        Entry begun = Entry.claim(OWNER, true, 0).at(Step.TAP).ending(ASKED);
        assertThat(next(begun)).containsExactly(new Action.Remove(OWNER, Part.TAP));
        Entry before = Entry.claim(OWNER, true, 0).at(Step.SCRATCH).ending(ASKED);
        assertThat(next(before))
                .containsExactly(new Action.Forget(OWNER, before.end().orElseThrow()));
        Entry lives = Entry.claim(Owners.again(OWNER), true, NOW).at(Step.RUNNING);
        assertThat(next(begun, lives))
                .contains(new Action.Forget(OWNER, begun.end().orElseThrow()))
                .doesNotContain(new Action.Remove(OWNER, Part.TAP));
        has(Part.TAP);
        has(Part.DOMAIN, new Thing(Part.DOMAIN, Part.DOMAIN.nameOf(OWNER), Optional.empty(), true));
        assertThat(next(begun.at(Step.RUNNING)))
                .containsExactly(new Action.Forget(OWNER, begun.end().orElseThrow()));
    }

    @Test
    void what_looks_like_ours_and_is_nobodys_is_named() {
        Matching matching = new Matching(
                List.of(REGISTERED), seenWith(new Thing(Part.TAP, Part.TAP.nameOf(OTHER), Optional.empty(), true)));
        assertThat(matching.strays(List.of(REGISTERED)))
                .hasSize(1)
                .first()
                .asString()
                .contains("without an owner's mark");
        // Claimed meanwhile: it is being made.
        assertThat(matching.strays(List.of(REGISTERED, Entry.claim(OTHER, false, NOW))))
                .isEmpty();
        matching =
                new Matching(List.of(REGISTERED), seenWith(new Thing(Part.TAP, "cl-copy", Optional.of(OWNER), true)));
        assertThat(matching.strays(List.of(REGISTERED)))
                .hasSize(1)
                .first()
                .asString()
                .contains("whose is called");
    }

    private Seen seenWith(Thing tap) {
        has(Part.TAP, thing(Part.TAP, OWNER), tap);
        return new Seen(answers, inStep);
    }
}

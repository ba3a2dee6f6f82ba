package org.cloister.protocol.handover;

/**
 * A member as a worker knows it.
 *
 * @param home below one of the places that {@link FolderPath} allows
 */
public record User(String login, int uid, int gid, FolderPath home) {
    /** @throws IllegalArgumentException if it is none that may run jobs */
    public User {
        Require.that(
                Login.FORM.matcher(login).matches(),
                "login",
                "a lower-case letter, and up to 30 letters, digits, _ or -",
                Require.other(login));
        Require.that(!Login.isSystem(login), "login", "none of the system's names", login);
        Require.within("uid", Require.unsigned(uid), Login.LEAST_ID, Login.MOST_ID);
        Require.within("gid", Require.unsigned(gid), Login.LEAST_ID, Login.MOST_ID);
        home.requireInWorker("home");
    }

    static User read(org.cloister.protocol.handover.wire.User wire) {
        return new User(wire.getLogin(), wire.getUid(), wire.getGid(), new FolderPath(wire.getHome()));
    }

    org.cloister.protocol.handover.wire.User wire() {
        return org.cloister.protocol.handover.wire.User.newBuilder()
                .setLogin(login)
                .setUid(uid)
                .setGid(gid)
                .setHome(home.text())
                .build();
    }
}

package graph

import (
	"context"
	"crypto/rand"
	"errors"

	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// createList creates a list, and returns all errors in the input.
func (r *Resolver) createList(ctx context.Context, viewer retwis.UserID, input CreateListInput) (*retwis.List, error) {
	name, err := retwis.NormalizeListName(input.Name)
	key := rand.Text()
	if input.IdempotencyKey != nil {
		key = *input.IdempotencyKey
		err = errors.Join(err, retwis.CheckIdempotencyKey(key))
	}
	if err != nil {
		return nil, err
	}
	list, err := r.Lists.CreateList(ctx, viewer, name, key)
	if errors.Is(err, retwis.ErrListNotFound) {
		return nil, retwis.FieldError(retwis.CodeInvalid, "idempotencyKey",
			"the key was used for a list that is deleted: choose a new key for a new list")
	}
	return list, err
}

func (r *Resolver) renameList(ctx context.Context, viewer retwis.UserID, input RenameListInput) (*retwis.List, error) {
	id, err := listID(input.ListID)
	name, wrong := retwis.NormalizeListName(input.Name)
	if err := errors.Join(err, wrong); err != nil {
		return nil, err
	}
	list, err := r.Lists.RenameList(ctx, viewer, id, name)
	return list, conceal(err)
}

// deleteList deletes a list of the viewer. A deleted list leaves no trace, so one that does not exist and may have been the
// viewer's counts as deleted. A repeat therefore succeeds.
func (r *Resolver) deleteList(ctx context.Context, viewer retwis.UserID, input DeleteListInput) error {
	id, err := listID(input.ListID)
	if err != nil {
		return err
	}
	err = r.Lists.DeleteList(ctx, viewer, id)
	if errors.Is(err, retwis.ErrListNotFound) && couldOwn(viewer, id) {
		return nil
	}
	return conceal(err)
}

// changeMember adds or removes a member of a viewer's list, and returns the list and the user as they are after the change.
func changeMember(
	ctx context.Context, viewer retwis.UserID, listOf, userOf string,
	change func(ctx context.Context, owner retwis.UserID, list retwis.ListID, user retwis.UserID) error,
) (*retwis.List, *retwis.User, error) {
	id, err := listID(listOf)
	member, ok := parseGlobalID(userOf).(retwis.UserID)
	if !ok {
		err = errors.Join(err, retwis.ErrUserNotFound)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := change(ctx, viewer, id, member); err != nil {
		return nil, nil, conceal(err)
	}
	readUser := loaders.From(ctx).Users.LoadThunk(ctx, member)
	list, err := loaders.From(ctx).Lists.Load(ctx, id)
	if err == nil && list == nil {
		err = retwis.ErrListNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	user, err := readUser()
	if err == nil && user == nil {
		err = retwis.ErrUserNotFound
	}
	return list, user, err
}

// listID parses the global id of a list.
func listID(id string) (retwis.ListID, error) {
	list, ok := parseGlobalID(id).(retwis.ListID)
	if !ok {
		return 0, retwis.ErrListNotFound
	}
	return list, nil
}

// conceal hides from the viewer that a list exists and has another owner.
func conceal(err error) error {
	if errors.Is(err, retwis.ErrListNotOwned) {
		return retwis.ErrListNotFound
	}
	return err
}
